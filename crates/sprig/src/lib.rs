//! The template functions of Masterminds/sprig v3

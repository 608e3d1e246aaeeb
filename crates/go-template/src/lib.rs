//! Go's text/template: lexer, parser, executor, error texts

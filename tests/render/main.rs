//! Rendering through the real binary, compared with what Helm printed.
//!
//! `corpus`: public charts, both profiles. `oracle`: small tables of Helm's behaviour. `cases`: bugs that other tools have.
//! `golden`: the charts under testdata, which need nothing else. `flags`: every flag beside the real binary. The first three live outside the repository and are
//! found through HELMREL_CORPUS, HELMREL_ORACLE and HELMREL_CASES; without them they are skipped, and say so.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod beside;
mod cases;
mod corpus;
mod fetching;
mod flags;
mod golden;
mod oracle;
mod support;

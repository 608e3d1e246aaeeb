//! Rendering through the real binary, compared with what Helm printed.
//!
//! `corpus`: public charts, both profiles. `oracle`: small tables of Helm's behaviour. `cases`: bugs that other tools have.
//! The three live outside the repository and are found through HELMREL_CORPUS, HELMREL_ORACLE and HELMREL_CASES; without
//! them they are skipped, and say so. `golden`: the charts under testdata, which need nothing else. `flags`, `fetching`:
//! every flag beside the real binary, where that is on the machine. `lint`: what is found in charts. `hostile`: charts of
//! those who mean harm.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod beside;
mod cases;
mod corpus;
mod fetching;
mod flags;
mod golden;
mod hostile;
mod lint;
mod oracle;
mod support;

//! The real clock, randomness and DNS that template functions get.

use std::net::ToSocketAddrs;

use jiff::Zoned;
use jiff::tz::TimeZone;
use ring::rand::{SecureRandom, SystemRandom};

/// The machine this runs on.
#[derive(Debug)]
pub struct SystemHost {
    random: SystemRandom,
}

impl Default for SystemHost {
    fn default() -> Self {
        Self { random: SystemRandom::new() }
    }
}

impl sprig::Host for SystemHost {
    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn local_zone(&self) -> TimeZone {
        TimeZone::system()
    }

    fn fill(&self, buffer: &mut [u8]) {
        // Keys made of anything but good randomness would be worse than a render that does not end well.
        if self.random.fill(buffer).is_err() {
            tracing::error!("the system's random number generator failed");
            std::process::abort();
        }
    }

    fn lookup_host(&self, name: &str) -> Vec<String> {
        (name, 0).to_socket_addrs().map(|all| all.map(|a| a.ip().to_string()).collect()).unwrap_or_default()
    }
}

//! Ranges of versions.
//!
//! Owns: alternatives (`||`), wildcards, the check and its reasons. Does not own: how the parts are written
//! ([`crate::written`]).
//! Upstream: `constraints.go`.
//! The surprising thing: a missing or wildcard number makes a plain version a tilde range, so `1.2` means `~1.2`.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::version::{Version, compare_pre};
use crate::written::{self, Written};

/// How long a range may be.
const MAX_LENGTH: usize = 512;
/// How many alternatives it may have.
const MAX_GROUPS: usize = 32;

/// A range of versions.
#[derive(Clone, Debug)]
pub struct Constraints {
    /// Any of these must hold.
    groups: Vec<Group>,
    /// Accept pre-release versions even where the range names none.
    pub include_prerelease: bool,
}

/// All of these must hold.
#[derive(Clone, Debug)]
struct Group {
    constraints: Vec<Constraint>,
    has_pre: bool,
}

#[derive(Clone, Debug)]
struct Constraint {
    version: Version,
    /// The version as written.
    original: String,
    operator: String,
    /// No minor number, or a wildcard for it.
    minor_dirty: bool,
    /// No patch number, or a wildcard for it.
    patch_dirty: bool,
    /// Any wildcard or missing number.
    dirty: bool,
}

impl Constraints {
    /// `semver.NewConstraint`
    ///
    /// # Errors
    /// The text is not a range.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::ConstraintTooLong);
        }
        let text = written::without_hyphens(text);
        let mut groups = Vec::new();
        if text.split("||").count() > MAX_GROUPS {
            return Err(Error::TooManyGroups);
        }
        for part in text.split("||") {
            let parts = written::parts(part).ok_or_else(|| Error::ImproperConstraint(part.to_owned()))?;
            let constraints = parts.iter().map(Constraint::of).collect::<Result<Vec<_>, _>>()?;
            let has_pre = constraints.iter().any(|c| c.version.is_prerelease());
            groups.push(Group { constraints, has_pre });
        }
        Ok(Self { groups, include_prerelease: false })
    }

    /// Is the version in the range?
    pub fn check(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let pre = self.include_prerelease || group.has_pre;
            group.constraints.iter().all(|c| c.check(version, pre).is_ok())
        })
    }

    /// Is the version in the range, and if not, why: upstream's reasons in order.
    ///
    /// # Errors
    /// The reasons.
    pub fn validate(&self, version: &Version) -> Result<(), Vec<String>> {
        let mut reasons = Vec::new();
        let mut said_prerelease = false;
        for group in &self.groups {
            let pre = self.include_prerelease || group.has_pre;
            let mut fits = true;
            for constraint in &group.constraints {
                if !pre && version.is_prerelease() {
                    if !said_prerelease {
                        reasons.push(prerelease(version));
                        said_prerelease = true;
                    }
                    fits = false;
                } else if let Err(reason) = constraint.check(version, pre) {
                    reasons.push(reason);
                    fits = false;
                }
            }
            if fits {
                return Ok(());
            }
        }
        Err(reasons)
    }
}

impl FromStr for Constraints {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.groups.iter().enumerate() {
            if i > 0 {
                f.write_str(" || ")?;
            }
            for (k, c) in group.constraints.iter().enumerate() {
                if k > 0 {
                    f.write_str(" ")?;
                }
                write!(f, "{}{}", c.operator, c.original)?;
            }
        }
        Ok(())
    }
}

fn is_wildcard(s: &str) -> bool {
    matches!(s, "x" | "X" | "*")
}

fn prerelease(version: &Version) -> String {
    format!("\"{version}\" is a prerelease version and the constraint is only looking for release versions")
}

impl Constraint {
    fn of(written: &Written<'_>) -> Result<Self, Error> {
        let Written { major, minor, patch, pre, .. } = *written;
        let missing = |s: &str| s.is_empty() || is_wildcard(s.trim_start_matches('.'));
        let (mut minor_dirty, mut patch_dirty, mut dirty) = (false, false, true);
        let version = if missing(major) {
            format!("0.0.0{pre}")
        } else if missing(minor) {
            minor_dirty = true;
            format!("{major}.0.0{pre}")
        } else if missing(patch) {
            patch_dirty = true;
            format!("{major}{minor}.0{pre}")
        } else {
            dirty = false;
            written.version.to_owned()
        };
        Ok(Self {
            version: Version::parse(&version).map_err(|_| Error::ConstraintParser)?,
            original: written.version.to_owned(),
            operator: written.operator.to_owned(),
            minor_dirty,
            patch_dirty,
            dirty,
        })
    }

    fn check(&self, v: &Version, include_pre: bool) -> Result<(), String> {
        if v.is_prerelease() && !include_pre {
            return Err(prerelease(v));
        }
        let need =
            |fits: bool, why: &str| if fits { Ok(()) } else { Err(format!("\"{v}\" is {why} \"{}\"", self.original)) };
        match self.operator.as_str() {
            "!=" => need(self.differs(v), "equal to"),
            ">" => need(self.is_below(v), "less than or equal to"),
            "<" => need(*v < self.version, "greater than or equal to"),
            ">=" | "=>" => need(*v >= self.version, "less than"),
            "<=" | "=<" => need(self.reaches(v), "greater than"),
            "~" | "~>" => self.tilde(v),
            "^" => self.caret(v),
            _ if self.dirty => self.tilde(v),
            _ => need(*v == self.version, "not equal to"),
        }
    }

    fn differs(&self, v: &Version) -> bool {
        let c = &self.version;
        if self.dirty {
            if c.major != v.major || c.minor != v.minor && !self.minor_dirty {
                return true;
            }
            if self.minor_dirty {
                return false;
            }
            if c.patch != v.patch && !self.patch_dirty {
                return true;
            }
            if self.patch_dirty {
                return (v.is_prerelease() || c.is_prerelease()) && compare_pre(&v.pre, &c.pre).is_ne();
            }
        }
        v != c
    }

    fn is_below(&self, v: &Version) -> bool {
        let c = &self.version;
        if !self.dirty || v.major == c.major && !self.minor_dirty && !self.patch_dirty {
            return v > c;
        }
        v.major > c.major || v.major == c.major && self.patch_dirty && v.minor > c.minor
    }

    fn reaches(&self, v: &Version) -> bool {
        let c = &self.version;
        if !self.dirty {
            return v <= c;
        }
        !(v.major > c.major || v.major == c.major && v.minor > c.minor && !self.minor_dirty)
    }

    fn tilde(&self, v: &Version) -> Result<(), String> {
        let (c, original) = (&self.version, &self.original);
        if v < c {
            return Err(format!("\"{v}\" is less than \"{original}\""));
        }
        if (c.major, c.minor, c.patch) == (0, 0, 0) && !self.minor_dirty && !self.patch_dirty {
            return Ok(());
        }
        if v.major != c.major {
            return Err(format!("\"{v}\" does not have same major version as \"{original}\""));
        }
        if v.minor != c.minor && !self.minor_dirty {
            return Err(format!("\"{v}\" does not have same major and minor version as \"{original}\""));
        }
        Ok(())
    }

    fn caret(&self, v: &Version) -> Result<(), String> {
        let (c, original) = (&self.version, &self.original);
        if v < c {
            return Err(format!("\"{v}\" is less than \"{original}\""));
        }
        if c.major > 0 || self.minor_dirty {
            return if v.major == c.major {
                Ok(())
            } else {
                Err(format!("\"{v}\" does not have same major version as \"{original}\""))
            };
        }
        if v.major > 0 {
            return Err(format!("\"{v}\" does not have same major version as \"{original}\""));
        }
        if c.minor > 0 || self.patch_dirty {
            return if v.minor == c.minor {
                Ok(())
            } else {
                Err(format!(
                    "\"{v}\" does not have same minor version as \"{original}\". Expected minor versions to match when constraint major version is 0"
                ))
            };
        }
        if v.minor > 0 {
            return Err(format!("\"{v}\" does not have same minor version as \"{original}\""));
        }
        if c.patch == v.patch {
            return Ok(());
        }
        Err(format!(
            "\"{v}\" does not equal \"{original}\". Expect version and constraint to equal when major and minor versions are 0"
        ))
    }
}

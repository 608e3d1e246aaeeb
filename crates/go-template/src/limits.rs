//! The bounds on one render, so that a hostile template is an error and not a dead process.
//!
//! Owns: the named limits, what is used up of them, the texts when one is reached, and a thread with room for deep
//! recursion. Does not own: time-outs. Upstream: `maxExecDepth` of `text/template`; the others are ours.
//! The surprising thing: depth is bounded by the stack really used, measured as the distance between two locals, since
//! a template that includes itself through `include` needs more of it per level than one that uses `{{template}}`.

use std::io;

/// How far a render may go. One value holds for the whole render, including every `include` and `tpl` in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep `{{template}}` calls and functions that execute templates may nest; Go has 100,000.
    pub depth: usize,
    /// Bytes of stack that execution may use, from the outermost call on. Must be well below the thread's stack size:
    /// see [`on_large_stack`].
    pub stack: usize,
    /// Bytes that all templates of the render may write, included ones as well.
    pub output: usize,
    /// Nodes that may be executed.
    pub steps: u64,
}

impl Limits {
    /// Go's depth of template calls.
    pub const DEPTH: usize = 100_000;
    /// What fits the 2 MiB of an ordinary Rust thread.
    pub const STACK: usize = 1 << 20;
    /// 512 MiB.
    pub const OUTPUT: usize = 512 << 20;
    /// 256 MiB: how long the texts that a function is given, or the one it gives, may be.
    pub const TEXT: usize = 256 << 20;
    /// About a minute's work.
    pub const STEPS: u64 = 500_000_000;

    /// The same limits for a thread whose stack has `bytes`: the reserve for whatever functions do is taken off.
    #[must_use]
    pub const fn for_stack(mut self, bytes: usize) -> Self {
        self.stack = bytes - bytes / 4;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEPTH, stack: Self::STACK, output: Self::OUTPUT, steps: Self::STEPS }
    }
}

/// What a render has used of its [`Limits`].
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    depth: usize,
    steps: u64,
    output: usize,
    stack_base: usize,
}

impl Budget {
    /// A fresh budget; the stack is counted from here.
    #[inline(never)]
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, depth: 0, steps: 0, output: 0, stack_base: stack_address() }
    }

    /// Count one executed node.
    pub(crate) fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(format!("exceeded maximum number of steps ({})", self.limits.steps));
        }
        Ok(())
    }

    /// Count output.
    pub(crate) fn write(&mut self, bytes: usize) -> Result<(), String> {
        self.output = self.output.saturating_add(bytes);
        if self.output > self.limits.output {
            return Err(format!("exceeded maximum output size ({} bytes)", self.limits.output));
        }
        Ok(())
    }

    /// Is there room on the stack to go on recursing?
    pub(crate) fn recurse(&self) -> Result<(), String> {
        if stack_address().abs_diff(self.stack_base) > self.limits.stack {
            return Err(format!("exceeded maximum stack size ({} bytes)", self.limits.stack));
        }
        Ok(())
    }

    /// Enter a template; [`Budget::leave`] afterwards.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        if self.depth >= self.limits.depth {
            return Err(format!("exceeded maximum template depth ({})", self.limits.depth));
        }
        self.recurse()?;
        self.depth += 1;
        Ok(())
    }

    /// Leave a template.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// Are the texts among the values short enough for one call?
pub(crate) fn texts_fit<'v>(values: impl IntoIterator<Item = &'v go_value::Value>) -> Result<(), String> {
    let length = |v: &go_value::Value| v.as_str().map_or(0, go_value::Str::len);
    text_fits(values.into_iter().map(length).fold(0, usize::saturating_add))
}

/// Is a text of this length short enough?
pub(crate) fn text_fits(length: usize) -> Result<(), String> {
    if length > Limits::TEXT {
        return Err(format!("exceeded maximum text size ({} bytes)", Limits::TEXT));
    }
    Ok(())
}

/// Roughly where the stack is now.
#[inline(never)]
pub(crate) fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

/// Run `work` on a thread of its own with `stack_bytes` of stack (only touched pages cost memory), and wait for it.
/// Give the render [`Limits::for_stack`] of the same number.
///
/// # Errors
/// If the system cannot start the thread. A panic in `work` goes on in the caller.
pub fn on_large_stack<T: Send>(stack_bytes: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("render".into()).stack_size(stack_bytes);
        match thread.spawn_scoped(scope, work)?.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

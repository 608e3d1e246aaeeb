//! The bounds on one render, so that a hostile template is an error and not a dead process.
//!
//! Owns: the named limits, what is used up of them, the texts when one is reached, and a thread with room for deep
//! recursion. Does not own: time-outs. Upstream: `maxExecDepth` of `text/template`; the others are ours.
//! The surprising thing: depth is bounded by the stack really used, measured as the distance between two locals, since
//! a template that includes itself through `include` needs more of it per level than one that uses `{{template}}`.

use std::cell::Cell;
use std::io;

use go_value::limits::{MAX_TEXT, text_too_long};
use go_value::{Map, Value, WeakMap};

/// How far a render may go. One value holds for the whole render, including every `include` and `tpl` in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep `{{template}}` calls and functions that execute templates may nest; Go has 100,000.
    pub depth: usize,
    /// How deep functions that execute templates may nest. Each such level of an error holds the levels below it, so it
    /// is not the stack that would give in first.
    pub calls: usize,
    /// Bytes of stack that execution may use, from the outermost call on. Must be well below the thread's stack size:
    /// see [`on_large_stack`].
    pub stack: usize,
    /// Bytes that all templates of the render may write, included ones as well.
    pub output: usize,
    /// Nodes that may be executed. What functions do counts too, by the length of what they are given.
    pub steps: u64,
    /// Bytes of what functions made and somebody still holds. It is an estimate, and never less than what is in use.
    pub memory: usize,
    /// Said behind the text of a limit that was reached: how whoever renders can raise it.
    pub hint: &'static str,
}

impl Limits {
    /// Go's depth of template calls.
    pub const DEPTH: usize = 100_000;
    /// More than Helm's 1,000 levels of a template that includes itself need, be there others in between.
    pub const CALLS: usize = 4000;
    /// What fits the 2 MiB of an ordinary Rust thread.
    pub const STACK: usize = 1 << 20;
    /// 64 MiB; a release with a hundredth of that fits no Secret.
    pub const OUTPUT: usize = 64 << 20;
    /// Some seconds' work.
    pub const STEPS: u64 = 20_000_000;
    /// 192 MiB.
    pub const MEMORY: usize = 192 << 20;

    /// The same limits for a thread whose stack has `bytes`: the reserve for whatever functions do is taken off.
    #[must_use]
    pub const fn for_stack(mut self, bytes: usize) -> Self {
        self.stack = bytes - bytes / 4;
        self
    }

    /// `factor` times as much of what a large chart may need: steps, output and memory.
    #[must_use]
    pub const fn times(mut self, factor: u32) -> Self {
        self.steps = self.steps.saturating_mul(factor as u64);
        self.output = self.output.saturating_mul(factor as usize);
        self.memory = self.memory.saturating_mul(factor as usize);
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: Self::DEPTH,
            calls: Self::CALLS,
            stack: Self::STACK,
            output: Self::OUTPUT,
            steps: Self::STEPS,
            memory: Self::MEMORY,
            hint: "",
        }
    }
}

/// What a render has used of its [`Limits`], whatever the number of its templates.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    depth: usize,
    calls: usize,
    steps: u64,
    output: usize,
    memory: usize,
    stack_base: usize,
    grown: Grown,
}

/// Maps that were put other maps into while templates were executed. One that came to contain itself keeps itself: whoever
/// renders lets go of all that templates saw, and then of these.
#[derive(Debug, Default)]
pub struct Grown {
    maps: Vec<WeakMap>,
    /// At this number those that are gone are left out.
    full: usize,
}

impl Grown {
    fn add(&mut self, map: &Map) {
        if self.maps.last().is_some_and(|last| last.is(map)) {
            return;
        }
        if self.maps.len() >= self.full {
            self.maps.retain(|map| !map.is_gone());
            self.full = 2 * self.maps.len() + 64;
        }
        self.maps.push(map.downgrade());
    }

    /// Empty the maps that are still there.
    pub fn let_go(self) {
        self.maps.iter().for_each(WeakMap::clear);
    }
}

impl Budget {
    /// A fresh budget; the stack is counted from where this is called.
    #[inline(never)]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            depth: 0,
            calls: 0,
            steps: 0,
            output: 0,
            memory: 0,
            stack_base: stack_address(),
            grown: Grown::default(),
        }
    }

    /// Count this many executed nodes, or what takes as long.
    pub(crate) fn work(&mut self, steps: u64) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.limits.steps {
            return Err(self.reached("number of steps", self.limits.steps, ""));
        }
        Ok(())
    }

    /// Count output.
    pub(crate) fn write(&mut self, bytes: usize) -> Result<(), String> {
        self.output = self.output.saturating_add(bytes);
        if self.output > self.limits.output {
            return Err(self.reached("output size", self.limits.output as u64, " bytes"));
        }
        Ok(())
    }

    /// Count memory.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), String> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.limits.memory {
            return Err(self.reached("memory", self.limits.memory as u64, " bytes"));
        }
        Ok(())
    }

    #[cold]
    fn reached(&self, what: &str, limit: u64, unit: &str) -> String {
        format!("exceeded maximum {what} ({limit}{unit}){}", self.limits.hint)
    }

    /// Count what a function is given: the longer, the longer it takes.
    pub(crate) fn take<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> Result<(), String> {
        /// What a step's time is enough for, by a function that is not fast.
        const BYTES_A_STEP: usize = 16;
        const ITEMS_A_STEP: usize = 8;
        let (mut bytes, mut items) = (0_usize, 0_usize);
        for value in values {
            match value {
                Value::String(text) => bytes = bytes.saturating_add(text.len()),
                Value::List(list) => items = items.saturating_add(list.len()),
                _ => {}
            }
        }
        text_fits(bytes)?;
        self.work((bytes / BYTES_A_STEP + items / ITEMS_A_STEP) as u64)
    }

    /// The end of a render: the maps to let go of.
    pub fn into_grown(self) -> Grown {
        self.grown
    }

    /// Other maps, or lists, were put into this one.
    pub(crate) fn grew(&mut self, map: &Map) {
        self.grown.add(map);
    }

    /// Count entries that were added to a map.
    pub(crate) fn hold_entries(&mut self, entries: usize) -> Result<(), String> {
        self.hold(entries.saturating_mul(ENTRY))
    }

    /// Take off what nobody but the caller holds, who is about to drop it. Only what was counted may be given here: what
    /// [`Budget::give`] saw, and what the data of the render holds, which is shared with it.
    pub(crate) fn release(&mut self, value: &Value) {
        self.memory = self.memory.saturating_sub(made(value, 0));
    }

    /// Count what a function made. What somebody else holds too was there before.
    pub(crate) fn give(&mut self, value: &Value) -> Result<(), String> {
        if let Value::String(text) = value {
            text_fits(text.len())?;
        }
        /// What a step's time is enough to make.
        const BYTES_A_STEP: usize = 128;
        match made(value, 0) {
            0 => Ok(()),
            bytes => self.work((bytes / BYTES_A_STEP) as u64).and_then(|()| self.hold(bytes)),
        }
    }

    /// Is there room on the stack to go on recursing?
    pub(crate) fn recurse(&self) -> Result<(), String> {
        if stack_address().abs_diff(self.stack_base) > self.limits.stack {
            return Err(format!(
                "exceeded maximum stack size ({} bytes); it is fixed: nest templates less deep",
                self.limits.stack
            ));
        }
        Ok(())
    }

    /// Enter a template; [`Budget::leave`] afterwards.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        if self.depth >= self.limits.depth {
            // Go's text.
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

    /// Enter a template that a function executes; [`Budget::leave_call`] afterwards.
    pub(crate) fn enter_call(&mut self) -> Result<(), String> {
        /// What that takes beside the nodes of the template.
        const STEPS: u64 = 8;
        self.work(STEPS)?;
        if self.calls >= self.limits.calls {
            return Err(format!(
                "exceeded maximum depth of include and tpl ({}); it is fixed: nest them less deep",
                self.limits.calls
            ));
        }
        self.enter()?;
        self.calls += 1;
        Ok(())
    }

    /// Leave a template that a function executed.
    pub(crate) fn leave_call(&mut self) {
        self.calls -= 1;
        self.leave();
    }
}

/// An entry of a map, without what its value holds.
const ENTRY: usize = 2 * BLOCK + ITEM;
const ITEM: usize = size_of::<Value>();
/// A text or a list of its own, with what the allocator adds.
const BLOCK: usize = 48;

/// Bytes of what was made for this value, and is nowhere else.
fn made(value: &Value, depth: usize) -> usize {
    /// What is made by one call does not nest deeper.
    const DEPTH: usize = 1000;
    let within = |value: &Value| if depth < DEPTH { made(value, depth + 1) } else { 0 };
    match value {
        Value::String(text) if !text.is_shared() => BLOCK + text.len(),
        Value::List(list) if !list.is_shared() => {
            if let Some(bytes) = list.as_bytes() {
                return BLOCK + bytes.len();
            }
            list.iter().map(within).fold(BLOCK + list.len() * ITEM, usize::saturating_add)
        }
        Value::Map(map) if !map.is_shared() => {
            let mut bytes = (1 + map.len()) * ENTRY;
            map.for_each(|_, value| bytes = bytes.saturating_add(within(value)));
            bytes
        }
        _ => 0,
    }
}

/// Is a text of this length short enough?
pub(crate) fn text_fits(length: usize) -> Result<(), String> {
    if length > MAX_TEXT {
        return Err(text_too_long());
    }
    Ok(())
}

/// Roughly where the stack is now.
#[inline(never)]
pub(crate) fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

thread_local! {
    /// The stack of this thread, if [`on_large_stack`] made it.
    static STACK_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Run `work` on a thread of its own with `stack_bytes` of stack (only touched pages cost memory), and wait for it; or
/// here, if this is such a thread already. Give the render [`Limits::for_stack`] of the same number.
///
/// # Errors
/// If the system cannot start the thread. A panic in `work` goes on in the caller.
pub fn on_large_stack<T: Send>(stack_bytes: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if STACK_BYTES.get() >= stack_bytes {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("render".into()).stack_size(stack_bytes);
        let work = || {
            STACK_BYTES.set(stack_bytes);
            work()
        };
        match thread.spawn_scoped(scope, work)?.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

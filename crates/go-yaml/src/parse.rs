//! Tokens to events.
//!
//! Owns: the grammar, tags with their handles replaced.
//! Does not own: tokens ([`crate::scan`]), trees ([`crate::tree`]).
//! Upstream: `parserc.go` of go-yaml v2.
//! The surprising thing: an error names the line before the one it is in, counted from 1, and no line when it is in the
//! first.

use crate::scan::{Kind, Mark, Scanner, located};

/// What a document is made of, and in which line (from 0).
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) line: usize,
    pub(crate) data: EventData,
}

#[derive(Debug)]
pub(crate) enum EventData {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(String),
    /// `implicit`: plain and without a tag.
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        value: String,
        implicit: bool,
    },
    SequenceStart {
        anchor: Option<String>,
    },
    SequenceEnd,
    MappingStart {
        anchor: Option<String>,
    },
    MappingEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StreamStart,
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceFirst,
    BlockSequence,
    IndentlessSequence,
    BlockMappingFirst,
    BlockMapping,
    BlockMappingValue,
    FlowSequenceFirst,
    FlowSequence,
    FlowSequenceKey,
    FlowSequenceValue,
    FlowSequenceMappingEnd,
    FlowMappingFirst,
    FlowMapping,
    FlowMappingValue,
    FlowMappingEmptyValue,
    End,
}

/// Which nodes may stand here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Flow,
    Block,
    /// A block sequence need not be indented.
    BlockOrIndentless,
}

pub(crate) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    tag_directives: Vec<(String, String)>,
}

type Result<T> = std::result::Result<T, String>;

fn event(line: usize, data: EventData) -> Result<Event> {
    Ok(Event { line, data })
}

fn empty(mark: Mark) -> Result<Event> {
    event(mark.line, EventData::Scalar { anchor: None, tag: None, value: String::new(), implicit: true })
}

impl<'a> Parser<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        let input = if input.is_empty() { b"\n" } else { input };
        Self { scanner: Scanner::new(input), state: State::StreamStart, states: Vec::new(), tag_directives: Vec::new() }
    }

    /// The next event. Errors are go-yaml's texts with their `yaml: `.
    pub(crate) fn next(&mut self) -> Result<Event> {
        match self.state {
            State::StreamStart => {
                let line = self.mark()?.line;
                self.skip();
                self.state = State::ImplicitDocumentStart;
                event(line, EventData::StreamStart)
            }
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(Place::Block),
            State::BlockSequenceFirst | State::BlockSequence => self.block_sequence(),
            State::IndentlessSequence => self.indentless_sequence(),
            State::BlockMappingFirst | State::BlockMapping => self.block_mapping(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirst | State::FlowSequence => self.flow_sequence(),
            State::FlowSequenceKey => self.flow_sequence_key(),
            State::FlowSequenceValue => self.flow_sequence_value(),
            State::FlowSequenceMappingEnd => {
                self.state = State::FlowSequence;
                event(self.mark()?.line, EventData::MappingEnd)
            }
            State::FlowMappingFirst | State::FlowMapping => self.flow_mapping(),
            State::FlowMappingValue => self.flow_mapping_value(false),
            State::FlowMappingEmptyValue => self.flow_mapping_value(true),
            State::End => event(0, EventData::StreamEnd),
        }
    }

    fn kind(&mut self) -> Result<&Kind> {
        Ok(&self.scanner.peek()?.kind)
    }

    fn mark(&mut self) -> Result<Mark> {
        Ok(self.scanner.peek()?.start)
    }

    fn skip(&mut self) {
        self.scanner.take();
    }

    /// Take the token; where it ended.
    fn skip_to_end(&mut self) -> Mark {
        self.scanner.take().map(|t| t.end).unwrap_or_default()
    }

    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// A grammar error at the next token.
    fn error<T>(&mut self, problem: &str) -> Result<T> {
        Err(located(self.mark()?.line, problem))
    }

    fn document_start(&mut self, implicit: bool) -> Result<Event> {
        if !implicit {
            while matches!(self.kind()?, Kind::DocumentEnd) {
                self.skip();
            }
        }
        let line = self.mark()?.line;
        match self.kind()? {
            Kind::StreamEnd => {
                self.state = State::End;
                self.skip();
                return event(line, EventData::StreamEnd);
            }
            Kind::Version(..) | Kind::TagDirective { .. } | Kind::DocumentStart => {}
            _ if implicit => {
                self.directives()?;
                self.states.push(State::DocumentEnd);
                self.state = State::BlockNode;
                return event(line, EventData::DocumentStart);
            }
            _ => {}
        }
        self.directives()?;
        if !matches!(self.kind()?, Kind::DocumentStart) {
            return self.error("did not find expected <document start>");
        }
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        self.skip();
        event(line, EventData::DocumentStart)
    }

    fn directives(&mut self) -> Result<()> {
        let mut version = false;
        loop {
            let problem = match self.kind()? {
                Kind::Version(..) if version => Some("found duplicate %YAML directive"),
                Kind::Version(1, 1) => None,
                Kind::Version(..) => Some("found incompatible YAML document"),
                Kind::TagDirective { handle, .. } => {
                    let handle = handle.clone();
                    let known = self.tag_directives.iter().any(|(h, _)| *h == handle);
                    if known { Some("found duplicate %TAG directive") } else { None }
                }
                _ => break,
            };
            if let Some(problem) = problem {
                return self.error(problem);
            }
            match self.scanner.take().map(|t| t.kind) {
                Some(Kind::TagDirective { handle, prefix }) => self.tag_directives.push((handle, prefix)),
                _ => version = true,
            }
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tag_directives.iter().any(|(h, _)| h == handle) {
                self.tag_directives.push((handle.to_owned(), prefix.to_owned()));
            }
        }
        Ok(())
    }

    fn document_content(&mut self) -> Result<Event> {
        let mark = self.mark()?;
        match self.kind()? {
            Kind::Version(..)
            | Kind::TagDirective { .. }
            | Kind::DocumentStart
            | Kind::DocumentEnd
            | Kind::StreamEnd => {
                self.pop();
                empty(mark)
            }
            _ => self.node(Place::Block),
        }
    }

    fn document_end(&mut self) -> Result<Event> {
        let line = self.mark()?.line;
        if matches!(self.kind()?, Kind::DocumentEnd) {
            self.skip();
        }
        self.tag_directives.clear();
        self.state = State::DocumentStart;
        event(line, EventData::DocumentEnd)
    }

    fn node(&mut self, place: Place) -> Result<Event> {
        let start = self.mark()?;
        if matches!(self.kind()?, Kind::Alias(_)) {
            self.pop();
            return match self.scanner.take().map(|t| t.kind) {
                Some(Kind::Alias(name)) => event(start.line, EventData::Alias(name)),
                _ => empty(start),
            };
        }
        let (anchor, tag) = self.properties()?;
        let token_line = self.mark()?.line;
        let block = place != Place::Flow;
        // Without properties the node begins where its token does.
        let line = start.line;
        let collection = match self.kind()? {
            Kind::BlockEntry if place == Place::BlockOrIndentless => Some((State::IndentlessSequence, true)),
            Kind::FlowSequenceStart => Some((State::FlowSequenceFirst, true)),
            Kind::FlowMappingStart => Some((State::FlowMappingFirst, false)),
            Kind::BlockSequenceStart if block => Some((State::BlockSequenceFirst, true)),
            Kind::BlockMappingStart if block => Some((State::BlockMappingFirst, false)),
            Kind::Scalar { .. } => {
                self.pop();
                return self.scalar(line, anchor, tag);
            }
            _ => None,
        };
        match collection {
            Some((state, sequence)) => {
                self.state = state;
                let data =
                    if sequence { EventData::SequenceStart { anchor } } else { EventData::MappingStart { anchor } };
                event(line, data)
            }
            None if anchor.is_some() || tag.is_some() => {
                self.pop();
                let implicit = tag.is_none();
                event(line, EventData::Scalar { anchor, tag, value: String::new(), implicit })
            }
            None => Err(located(token_line, "did not find expected node content")),
        }
    }

    fn scalar(&mut self, line: usize, anchor: Option<String>, tag: Option<String>) -> Result<Event> {
        let Some(Kind::Scalar { value, plain }) = self.scanner.take().map(|t| t.kind) else {
            return empty(Mark::default());
        };
        let (tag, implicit) = match tag {
            None => (None, plain),
            // The bare `!` says that it is a text.
            Some(tag) if tag == "!" => (None, false),
            tag => (tag, false),
        };
        event(line, EventData::Scalar { anchor, tag, value, implicit })
    }

    /// An anchor and a tag, in any order.
    fn properties(&mut self) -> Result<(Option<String>, Option<String>)> {
        let (mut anchor, mut tag) = (None, None);
        let mut undefined = None;
        for _ in 0..2 {
            let mark = self.mark()?;
            match self.kind()? {
                Kind::Anchor(_) if anchor.is_none() => {
                    if let Some(Kind::Anchor(name)) = self.scanner.take().map(|t| t.kind) {
                        anchor = Some(name);
                    }
                }
                Kind::Tag { .. } if tag.is_none() => {
                    let Some(Kind::Tag { handle, suffix }) = self.scanner.take().map(|t| t.kind) else { break };
                    let prefix = self.tag_directives.iter().find(|(h, _)| *h == handle).map(|(_, p)| p.as_str());
                    tag = Some(match prefix {
                        _ if handle.is_empty() => suffix,
                        Some(prefix) => format!("{prefix}{suffix}"),
                        None => {
                            undefined = Some(mark);
                            suffix
                        }
                    });
                }
                _ => break,
            }
        }
        // Upstream looks at the handle after it has seen the token behind.
        self.mark()?;
        match undefined {
            Some(mark) => Err(located(mark.line, "found undefined tag handle")),
            None => Ok((anchor, tag)),
        }
    }

    /// A node in a collection that goes on in `after`.
    fn child(&mut self, after: State, place: Place) -> Result<Event> {
        self.states.push(after);
        self.node(place)
    }

    fn block_sequence(&mut self) -> Result<Event> {
        if self.state == State::BlockSequenceFirst {
            self.mark()?;
            self.skip();
            self.state = State::BlockSequence;
        }
        let line = self.mark()?.line;
        match self.kind()? {
            Kind::BlockEntry => {
                let mark = self.skip_to_end();
                if matches!(self.kind()?, Kind::BlockEntry | Kind::BlockEnd) {
                    self.state = State::BlockSequence;
                    return empty(mark);
                }
                self.child(State::BlockSequence, Place::Block)
            }
            Kind::BlockEnd => {
                self.pop();
                self.skip();
                event(line, EventData::SequenceEnd)
            }
            _ => self.error("did not find expected '-' indicator"),
        }
    }

    fn indentless_sequence(&mut self) -> Result<Event> {
        let line = self.mark()?.line;
        if !matches!(self.kind()?, Kind::BlockEntry) {
            self.pop();
            return event(line, EventData::SequenceEnd);
        }
        let mark = self.skip_to_end();
        if matches!(self.kind()?, Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.state = State::IndentlessSequence;
            return empty(mark);
        }
        self.child(State::IndentlessSequence, Place::Block)
    }

    fn block_mapping(&mut self) -> Result<Event> {
        if self.state == State::BlockMappingFirst {
            self.mark()?;
            self.skip();
            self.state = State::BlockMapping;
        }
        let line = self.mark()?.line;
        match self.kind()? {
            Kind::Key => {
                let mark = self.skip_to_end();
                if matches!(self.kind()?, Kind::Key | Kind::Value | Kind::BlockEnd) {
                    self.state = State::BlockMappingValue;
                    return empty(mark);
                }
                self.child(State::BlockMappingValue, Place::BlockOrIndentless)
            }
            Kind::BlockEnd => {
                self.pop();
                self.skip();
                event(line, EventData::MappingEnd)
            }
            _ => self.error("did not find expected key"),
        }
    }

    fn block_mapping_value(&mut self) -> Result<Event> {
        let mut mark = self.mark()?;
        if matches!(self.kind()?, Kind::Value) {
            mark = self.skip_to_end();
            if !matches!(self.kind()?, Kind::Key | Kind::Value | Kind::BlockEnd) {
                return self.child(State::BlockMapping, Place::BlockOrIndentless);
            }
        }
        self.state = State::BlockMapping;
        empty(mark)
    }

    fn flow_sequence(&mut self) -> Result<Event> {
        let first = self.state == State::FlowSequenceFirst;
        if first {
            self.mark()?;
            self.skip();
            self.state = State::FlowSequence;
        }
        if !matches!(self.kind()?, Kind::FlowSequenceEnd) {
            if !first {
                if !matches!(self.kind()?, Kind::FlowEntry) {
                    return self.error("did not find expected ',' or ']'");
                }
                self.skip();
            }
            let line = self.mark()?.line;
            match self.kind()? {
                Kind::Key => {
                    self.state = State::FlowSequenceKey;
                    self.skip();
                    return event(line, EventData::MappingStart { anchor: None });
                }
                Kind::FlowSequenceEnd => {}
                _ => return self.child(State::FlowSequence, Place::Flow),
            }
        }
        let line = self.mark()?.line;
        self.pop();
        self.skip();
        event(line, EventData::SequenceEnd)
    }

    fn flow_sequence_key(&mut self) -> Result<Event> {
        self.mark()?;
        if matches!(self.kind()?, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            // Upstream takes this token too, so that `[? : x]` loses its colon.
            let mark = self.skip_to_end();
            self.state = State::FlowSequenceValue;
            return empty(mark);
        }
        self.child(State::FlowSequenceValue, Place::Flow)
    }

    fn flow_sequence_value(&mut self) -> Result<Event> {
        let mark = self.mark()?;
        if matches!(self.kind()?, Kind::Value) {
            self.skip();
            self.mark()?;
            if !matches!(self.kind()?, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                return self.child(State::FlowSequenceMappingEnd, Place::Flow);
            }
        }
        self.state = State::FlowSequenceMappingEnd;
        empty(mark)
    }

    fn flow_mapping(&mut self) -> Result<Event> {
        let first = self.state == State::FlowMappingFirst;
        if first {
            self.mark()?;
            self.skip();
            self.state = State::FlowMapping;
        }
        if !matches!(self.kind()?, Kind::FlowMappingEnd) {
            if !first {
                if !matches!(self.kind()?, Kind::FlowEntry) {
                    return self.error("did not find expected ',' or '}'");
                }
                self.skip();
            }
            match self.kind()? {
                Kind::Key => {
                    self.skip();
                    let mark = self.mark()?;
                    if matches!(self.kind()?, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                        self.state = State::FlowMappingValue;
                        return empty(mark);
                    }
                    return self.child(State::FlowMappingValue, Place::Flow);
                }
                Kind::FlowMappingEnd => {}
                _ => return self.child(State::FlowMappingEmptyValue, Place::Flow),
            }
        }
        let line = self.mark()?.line;
        self.pop();
        self.skip();
        event(line, EventData::MappingEnd)
    }

    fn flow_mapping_value(&mut self, no_value: bool) -> Result<Event> {
        let mark = self.mark()?;
        self.state = State::FlowMapping;
        if !no_value && matches!(self.kind()?, Kind::Value) {
            self.skip();
            if !matches!(self.kind()?, Kind::FlowEntry | Kind::FlowMappingEnd) {
                return self.child(State::FlowMapping, Place::Flow);
            }
        }
        empty(mark)
    }
}

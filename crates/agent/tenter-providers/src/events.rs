//! Parses and checks the events of a stream before the model library reads them. The library receives complete events in a
//! normal form, so that it cannot split them differently; comments are removed.

use serde_json::Value;

use crate::Api;
use crate::arguments::{Arguments, Excess, MAX_VALUES, Nesting};
use tenter_http::TransportError;

/// Maximum size of one event in bytes. The library parses it several times.
const MAX_EVENT: usize = 16 << 20;

/// Turns the chunks of a response into whole events.
pub(crate) struct Events<I> {
    chunks: I,
    /// An incomplete line.
    line: Vec<u8>,
    /// The last byte was a carriage return, so that a following line feed is part of the same line end.
    after_return: bool,
    event: String,
    data: Option<String>,
    arguments: Arguments,
}

impl<I> Events<I> {
    /// Reads the events of `api` from `chunks`. An exceeded limit of arguments is recorded in `excess`.
    pub(crate) fn new(chunks: I, api: Api, excess: Excess) -> Self {
        Self {
            chunks,
            line: Vec::new(),
            after_return: false,
            event: String::new(),
            data: None,
            arguments: Arguments::new(api, excess),
        }
    }

    /// Returns the events that a chunk completes.
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<u8>, TransportError> {
        let mut complete = Vec::new();
        for piece in chunk.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            let follows_return = std::mem::take(&mut self.after_return);
            if follows_return && text.is_empty() && end == Some(b'\n') {
                continue;
            }
            self.line.extend_from_slice(text);
            self.check_size()?;
            if let Some(end) = end {
                self.after_return = end == b'\r';
                let line = std::mem::take(&mut self.line);
                self.line_ended(&String::from_utf8_lossy(&line), &mut complete)?;
            }
        }
        Ok(complete)
    }

    fn check_size(&self) -> Result<(), TransportError> {
        let size = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if size <= MAX_EVENT {
            return Ok(());
        }
        let problem = format!("one event of its response is larger than {} MiB", MAX_EVENT >> 20);
        Err(TransportError::Unusable(problem))
    }

    fn line_ended(&mut self, line: &str, complete: &mut Vec<u8>) -> Result<(), TransportError> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            return self.event_ended(complete);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => match &mut self.data {
                Some(data) => data.extend(["\n", value]),
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        Ok(())
    }

    fn event_ended(&mut self, complete: &mut Vec<u8>) -> Result<(), TransportError> {
        let event = std::mem::take(&mut self.event);
        let Some(data) = self.data.take() else { return Ok(()) };
        if !event.is_empty() {
            complete.extend_from_slice(format!("event: {event}\n").as_bytes());
        }
        for line in self.check(data)?.split('\n') {
            complete.extend_from_slice(format!("data: {line}\n").as_bytes());
        }
        complete.push(b'\n');
        Ok(())
    }

    /// Returns the data with excessive arguments emptied. Invalid or too deeply nested JSON is left for the library to reject.
    fn check(&mut self, data: String) -> Result<String, TransportError> {
        let mut nesting = Nesting::default();
        nesting.push(&data);
        if nesting.values() > MAX_VALUES {
            let problem = format!("one event of its response has more than {MAX_VALUES} values");
            return Err(TransportError::Unusable(problem));
        }
        let Ok(mut frame) = serde_json::from_str::<Value>(&data) else { return Ok(data) };
        let is_changed = self.arguments.check(&mut frame).map_err(TransportError::Unreachable)?;
        Ok(if is_changed { frame.to_string() } else { data })
    }
}

impl<I: Iterator<Item = Result<Vec<u8>, TransportError>>> Iterator for Events<I> {
    type Item = Result<Vec<u8>, TransportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let events = match self.chunks.next()? {
                Ok(chunk) => self.push(&chunk),
                Err(failure) => Err(failure),
            };
            match events {
                Ok(events) if events.is_empty() => {}
                other => return Some(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&str]) -> String {
        let chunks = chunks.iter().map(|chunk| Ok(chunk.as_bytes().to_vec()));
        let events = Events::new(chunks, Api::Chat, Excess::default()).map(Result::unwrap);
        String::from_utf8(events.flatten().collect()).unwrap()
    }

    #[test]
    fn events_are_complete_in_normal_form_and_without_comments() {
        assert_eq!(
            events(&[
                "\u{feff}: hi\n\nda",
                "ta: {\"a\":",
                "1}\r",
                "\n\r\n:\n\ndata:x\rdata: y\r\r"
            ]),
            "data: {\"a\":1}\n\ndata: x\ndata: y\n\n"
        );
        assert_eq!(
            events(&["event: ping\n\nevent: a\nid: 1\ndata: [DONE]\n\n"]),
            "event: a\ndata: [DONE]\n\n"
        );
        assert_eq!(events(&["data: cut off\n"]), "");
    }
}

//! The rows of a query, of which there may be no end: a store may be anybody's.

use crate::archive::database::{MOST_ROWS, Row, Value};

/// Most bytes of one answer.
const MOST_BYTES: usize = 256 << 20;

/// The rows that have come.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    bytes: usize,
}

impl Answer {
    /// Takes a row field by field.
    pub(crate) fn row(
        &mut self,
        fields: impl Iterator<Item = Result<Value, String>>,
    ) -> Result<(), String> {
        let mut row = Vec::new();
        for field in fields {
            let field = field?;
            self.bytes += size_of::<Value>() + bytes(&field);
            if self.bytes > MOST_BYTES {
                return Err(format!("an answer has more than {} MiB", MOST_BYTES >> 20));
            }
            row.push(field);
        }
        if self.rows.len() == MOST_ROWS {
            return Err(format!("an answer has more than {MOST_ROWS} rows"));
        }
        self.rows.push(Row(row));
        Ok(())
    }
}

fn bytes(field: &Value) -> usize {
    match field {
        Value::Null | Value::Int(_) | Value::Real(_) => 0,
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
    }
}

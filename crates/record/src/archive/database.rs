//! What the archive needs of a database, in SQL that SQLite and PostgreSQL share.

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// 64 hexadecimal digits in lower case.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A row; fields are taken by their place. A field of another type is an error: the store is damaged.
#[derive(Clone, Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> Result<i64, String> {
        match self.0.get(at) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(format!("field {at} is {other:?}, no whole number")),
        }
    }

    pub(crate) fn text(&self, at: usize) -> Result<String, String> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text.clone()),
            other => Err(format!("field {at} is {other:?}, no text")),
        }
    }

    /// A hash, which becomes a file's name: nothing but its digits.
    pub(crate) fn sha256(&self, at: usize) -> Result<String, String> {
        let text = self.text(at)?;
        if is_sha256(&text) {
            return Ok(text);
        }
        Err(format!("{:?} is no SHA-256", crate::printable(&text)))
    }

    pub(crate) fn bytes(&self, at: usize) -> Result<&[u8], String> {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            other => Err(format!("field {at} is {other:?}, no bytes")),
        }
    }

    pub(crate) fn optional_int(&self, at: usize) -> Result<Option<i64>, String> {
        if self.is_null(at) { Ok(None) } else { self.int(at).map(Some) }
    }

    pub(crate) fn optional_text(&self, at: usize) -> Result<Option<String>, String> {
        if self.is_null(at) { Ok(None) } else { self.text(at).map(Some) }
    }

    pub(crate) fn optional_real(&self, at: usize) -> Result<Option<f64>, String> {
        match self.0.get(at) {
            Some(Value::Real(value)) => Ok(Some(*value)),
            Some(Value::Int(value)) => Ok(Some(*value as f64)),
            Some(Value::Null) => Ok(None),
            other => Err(format!("field {at} is {other:?}, no number")),
        }
    }

    fn is_null(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Value::Null))
    }
}

/// Most rows of one answer: ten times the cases of the largest record, and more words than any archive has.
pub(crate) const MOST_ROWS: usize = 1 << 18;

/// A table's name and its columns, in the order of the rows' fields.
pub(crate) type Table<'a> = (&'a str, &'a [&'a str]);

/// A connection. Parameters are `$1`, `$2`, …, in the order of their first use. Errors are the database's words.
pub(crate) trait Database {
    /// Runs statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), String>;

    /// Runs one statement; how many rows it changed.
    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, String>;

    /// The rows of a query.
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String>;

    /// Adds many rows.
    fn insert(
        &mut self,
        table: Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String>;

    /// Begins to write; others wait until it ends.
    fn begin_writing(&mut self) -> Result<(), String>;

    /// Begins to read: what others write from now on is not seen.
    fn begin_reading(&mut self) -> Result<(), String>;

    /// Whether a table is there.
    fn has_table(&mut self, name: &str) -> Result<bool, String>;

    /// The schema in this database's words.
    fn dialect(&self, sql: &str) -> String;

    /// Keeps all that was written.
    fn commit(&mut self) -> Result<(), String> {
        self.batch("COMMIT")
    }

    /// Forgets all that was written.
    fn roll_back(&mut self) -> Result<(), String> {
        self.batch("ROLLBACK")
    }
}

//! Parquet: the same table with typed columns and the record's facts as metadata.

use crate::formats::{COLUMNS, Column, Of, Row};
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError as Inner;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use record::{Measurement, Record};
use std::sync::Arc;

/// Why the file could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot write Parquet: {0}")]
pub struct ParquetError(#[from] Inner);

/// The selected measurements as one row group: every column of the CSV under its name with unit
/// (Apache Parquet format 2, uncompressed; every column may be null). The file's key-value metadata
/// holds the record's `format_version`, `started`, `tool`, `host`, `plan` and `libraries` as JSON.
pub fn parquet(record: &Record, selection: &[&Measurement]) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata(record)));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema()?), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    let all: Vec<Row<'_>> = selection.iter().map(|m| Row::of(record, m)).collect();
    for column in COLUMNS {
        let mut writer = group.next_column()?.expect("the schema has a column for each");
        let rows = all.iter();
        match column.of {
            Of::Text(of) => {
                let texts = rows.map(|m| of(m).map(|text| ByteArray::from(text.as_str())));
                write::<ByteArrayType>(&mut writer, texts)?;
            }
            Of::Count(of) => {
                // Counts of samples and bytes stay far below 2^63; a forged record gets the largest.
                let counts = rows.map(|m| of(m).map(|n| i64::try_from(n).unwrap_or(i64::MAX)));
                write::<Int64Type>(&mut writer, counts)?;
            }
            Of::Real(of) => write::<DoubleType>(&mut writer, rows.map(|m| of(m)))?,
            Of::Flag(of) => write::<BoolType>(&mut writer, rows.map(|m| Some(of(m))))?,
        }
        writer.close()?;
    }
    group.close()?;
    Ok(file.into_inner()?)
}

fn schema() -> Result<Type, Inner> {
    let fields: Result<Vec<_>, Inner> = COLUMNS.iter().map(field).collect();
    Type::group_type_builder("measurements").with_fields(fields?).build()
}

fn field(column: &Column) -> Result<Arc<Type>, Inner> {
    let (physical, logical) = match column.of {
        Of::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Of::Count(_) => (Physical::INT64, None),
        Of::Real(_) => (Physical::DOUBLE, None),
        Of::Flag(_) => (Physical::BOOLEAN, None),
    };
    let name = column.name_with_unit();
    let field = Type::primitive_type_builder(&name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    Ok(Arc::new(field.build()?))
}

fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), Inner> {
    let values: Vec<Option<T::T>> = values.collect();
    // Definition level 1 for a value, 0 for null: the columns are not nested.
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&there, Some(&levels), None)?;
    Ok(())
}

fn metadata(record: &Record) -> Vec<KeyValue> {
    let entry = |key: &str, json: Result<String, serde_json::Error>| {
        let json = json.expect("plain data always serialises");
        KeyValue::new(format!("ciphermark.{key}"), json)
    };
    vec![
        KeyValue::new("ciphermark.format_version".to_owned(), record.format_version.clone()),
        KeyValue::new("ciphermark.started".to_owned(), record.started.clone()),
        entry("tool", serde_json::to_string(&record.tool)),
        entry("host", serde_json::to_string(&record.host)),
        entry("plan", serde_json::to_string(&record.plan)),
        entry("libraries", serde_json::to_string(&record.libraries)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
    use ::parquet::record::Field;

    fn read(bytes: Vec<u8>) -> SerializedFileReader<bytes::Bytes> {
        SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap()
    }

    #[test]
    fn every_value_comes_back_in_its_column_under_a_name_with_its_unit() {
        let record = sample::full_record();
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let reader = read(parquet(&record, &selection).unwrap());
        let found: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), selection.len());
        for (found, m) in found.iter().zip(&selection) {
            let m = &Row::of(&record, m);
            for ((name, field), column) in found.get_column_iter().zip(COLUMNS) {
                assert_eq!(*name, column.name_with_unit());
                let expected = match column.of {
                    Of::Text(of) => of(m).map(Field::Str),
                    Of::Count(of) => of(m).map(|count| Field::Long(i64::try_from(count).unwrap())),
                    Of::Real(of) => of(m).map(Field::Double),
                    Of::Flag(of) => Some(Field::Bool(of(m))),
                };
                assert_eq!(*field, expected.unwrap_or(Field::Null), "{name}");
            }
        }
        assert!(COLUMNS.iter().any(|column| column.name_with_unit() == "size_bytes"));
    }

    #[test]
    fn the_metadata_names_the_machine_and_the_format() {
        let record = sample::full_record();
        let reader = read(parquet(&record, &[]).unwrap());
        let entries = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let value = |key: &str| entries.iter().find(|e| e.key == key).unwrap().value.clone();
        assert_eq!(value("ciphermark.format_version").unwrap(), record::FORMAT_VERSION);
        assert!(value("ciphermark.host").unwrap().contains("Example CPU"));
    }
}

//! Figures from elsewhere as a record: what `openssl speed` printed, and published tables. Every row
//! has the state `imported`, says where it comes from, and proves nothing. Pure: text in, record out.

mod doubt;
pub mod openssl_speed;
mod rows;
mod speed;
mod table;

pub use rows::{Row, beside, record};
pub use speed::{SpeedSource, rows_of_speed};
pub use table::{BadTable, Table, parse_table};

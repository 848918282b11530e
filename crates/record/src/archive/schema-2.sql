-- What keeps questions quick in a store of many records. `shape` tells runs apart that asked for something else or measured
-- other releases: of those with one shape the newest hides the others.
ALTER TABLE record ADD COLUMN shape TEXT;
-- An index has bounds that a stranger's processor name need not have.
UPDATE record SET cpu = substr(cpu, 1, 200);
CREATE INDEX record_by_cpu ON record (cpu, started);
-- SQLite keeps a record's fields beside what lists need of it: they are found here without reading those.
--sqlite CREATE INDEX record_listed ON record (machine, started, id, sha256, region, cpu, kind, added, trust, signer, cases, shape);

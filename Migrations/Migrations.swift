/// One step of the database's schema. Released steps are never changed (`released.sha256`, ReleasedMigrationsTests); a change
/// of the schema is a new step.
package struct Migration: Hashable, Sendable {
    /// What the database remembers the step by; never changed.
    package let identifier: String
    /// The statements, run in one transaction.
    package let sql: String
    /// True where a table is made anew to which others refer: to drop it would be to delete what refers to it.
    package let isWithoutForeignKeys: Bool
    /// True where the views of single streams, which are made with the streams and not by these steps, have to be made anew.
    package let remakesStreamViews: Bool
    /// True where everything is digested that was stored before digests were kept.
    package let beginsEvidence: Bool
    /// Tables whose rows, those that are there included, have sums of digests from this step on.
    package let digestedTables: [String]

    /// All steps, in the order in which they are applied. A file of `sql/` that is not listed here fails a test.
    package static let all: [Migration] = [
        Migration("m0001_tables", PackageResources.m0001_tables_sql),
        Migration("m0002_views", PackageResources.m0002_views_sql),
        Migration("m0003_not_sent", PackageResources.m0003_not_sent_sql),
        Migration("m0004_signal_check", PackageResources.m0004_signal_check_sql),
        Migration("m0005_capture", PackageResources.m0005_capture_sql),
        Migration("m0006_handle_map", PackageResources.m0006_handle_map_sql),
        Migration("m0007_bond", PackageResources.m0007_bond_sql),
        Migration("m0008_impedance", PackageResources.m0008_impedance_sql),
        Migration("m0009_status_bytes", PackageResources.m0009_status_bytes_sql),
        Migration("m0010_link_key", PackageResources.m0010_link_key_sql),
        Migration(
            "m0011_changed_streams", PackageResources.m0011_changed_streams_sql, isWithoutForeignKeys: true),
        Migration("m0012_certainty", PackageResources.m0012_certainty_sql, isWithoutForeignKeys: true),
        Migration("m0013_reading", PackageResources.m0013_reading_sql, remakesStreamViews: true),
        Migration("m0014_quarantine", PackageResources.m0014_quarantine_sql),
        Migration("m0015_channel_declaration", PackageResources.m0015_channel_declaration_sql),
        Migration("m0016_refit", PackageResources.m0016_refit_sql),
        Migration("m0017_adapter_power", PackageResources.m0017_adapter_power_sql),
        Migration("m0018_connection_cause", PackageResources.m0018_connection_cause_sql),
        Migration("m0019_adoption", PackageResources.m0019_adoption_sql),
        Migration("m0020_pause", PackageResources.m0020_pause_sql),
        Migration("m0021_history", PackageResources.m0021_history_sql),
        Migration("m0022_annotation", PackageResources.m0022_annotation_sql),
        Migration("m0023_evidence", PackageResources.m0023_evidence_sql, beginsEvidence: true),
        Migration("m0024_provenance", PackageResources.m0024_provenance_sql),
        Migration("m0025_annotation_history", PackageResources.m0025_annotation_history_sql),
        Migration(
            "m0026_digested_tables", PackageResources.m0026_digested_tables_sql,
            digestedTables: ["recording_edit", "headset_message"]),
        Migration("m0029_start", PackageResources.m0029_start_sql),
        Migration("m0030_spool", PackageResources.m0030_spool_sql),
        Migration(
            "m0031_deletion", PackageResources.m0031_deletion_sql, digestedTables: ["deletion", "deleted_stream"]),
        Migration("m0032_pairing_keys", PackageResources.m0032_pairing_keys_sql),
        Migration("m0033_schedule", PackageResources.m0033_schedule_sql),
        Migration("m0034_process_death", PackageResources.m0034_process_death_sql),
        Migration("m0035_identity", PackageResources.m0035_identity_sql, digestedTables: ["machine", "machine_boot"]),
        Migration("m0036_full_disk", PackageResources.m0036_full_disk_sql),
        Migration("m0037_merge", PackageResources.m0037_merge_sql),
        Migration("m0038_whole_confirmation", PackageResources.m0038_whole_confirmation_sql),
    ]

    /// What all steps make of an empty database, as one script: what a new database is created with, and what people read.
    ///
    /// Steps of years change what others made, and SQLite reads the whole schema again for each `ALTER TABLE`. The script is
    /// made of the steps (NewSchemaTests) and holds their identifiers, so that none of them is applied again.
    package static let newDatabase = String(decoding: PackageResources.schema_sql, as: UTF8.self)

    /// The number that `PRAGMA application_id` gives for this program's databases: `EEGS` in ASCII.
    package static let applicationID: Int32 = 1_162_168_147

    private init(
        _ identifier: String, _ bytes: [UInt8], isWithoutForeignKeys: Bool = false, remakesStreamViews: Bool = false,
        beginsEvidence: Bool = false, digestedTables: [String] = []
    ) {
        self.identifier = identifier
        self.isWithoutForeignKeys = isWithoutForeignKeys
        self.remakesStreamViews = remakesStreamViews
        self.beginsEvidence = beginsEvidence
        self.digestedTables = digestedTables
        self.sql = String(decoding: bytes, as: UTF8.self)
    }
}

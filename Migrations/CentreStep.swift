/// One step of the schema of a centre, which is PostgreSQL. Released steps are never changed; a change is a new step.
package struct CentreStep: Hashable, Sendable {
    /// What the database remembers the step by; never changed.
    package let identifier: String
    /// The statements, run in one transaction.
    package let sql: String

    /// All steps, in the order in which they are applied.
    package static let all: [CentreStep] = [
        CentreStep("p0001_tables", PackageResources.p0001_tables_sql),
        CentreStep("p0002_views", PackageResources.p0002_views_sql),
        CentreStep("p0003_shipping", PackageResources.p0003_shipping_sql),
        CentreStep("p0004_fleet", PackageResources.p0004_fleet_sql),
        CentreStep("p0005_changes", PackageResources.p0005_changes_sql),
        CentreStep("p0006_rows", PackageResources.p0006_rows_sql),
        CentreStep("p0007_names", PackageResources.p0007_names_sql),
        CentreStep("p0008_mended", PackageResources.p0008_mended_sql),
        CentreStep("p0009_readers", PackageResources.p0009_readers_sql),
        CentreStep("p0010_heads", PackageResources.p0010_heads_sql),
        CentreStep("p0011_twins", PackageResources.p0011_twins_sql),
        CentreStep("p0012_fills", PackageResources.p0012_fills_sql),
        CentreStep("p0013_cheaper", PackageResources.p0013_cheaper_sql),
        CentreStep("p0014_policies", PackageResources.p0014_policies_sql),
        CentreStep("p0015_times", PackageResources.p0015_times_sql),
        CentreStep("p0016_citus", PackageResources.p0016_citus_sql),
        CentreStep("p0017_guarded", PackageResources.p0017_guarded_sql),
        CentreStep("p0018_withdrawn", PackageResources.p0018_withdrawn_sql),
        CentreStep("p0019_quotas", PackageResources.p0019_quotas_sql),
        CentreStep("p0020_replaced", PackageResources.p0020_replaced_sql),
        CentreStep("p0021_spread_twins", PackageResources.p0021_spread_twins_sql),
        CentreStep("p0022_spread_quotas", PackageResources.p0022_spread_quotas_sql),
        CentreStep("p0023_questions", PackageResources.p0023_questions_sql),
    ]

    private init(_ identifier: String, _ bytes: [UInt8]) {
        self.identifier = identifier
        self.sql = String(decoding: bytes, as: UTF8.self)
    }
}

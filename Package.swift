// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target: warnings are errors, and imports say what leaves a module.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// For targets that rehearsals spend their time in, and tests that look at each of a million samples: optimised in debug builds
/// too, which makes the tests ten times faster.
let optimised = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
    name: "eegsync",
    dependencies: [
        // SQLite access and migrations; its Statement exposes sqlite3_stmt for the hot path.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        // Commands, help texts and shell completions.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // Structured log lines with metadata.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // Orderly start, SIGTERM and SIGHUP of the daemon.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        // The configuration file and the descriptors of headsets.
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        // Digests and signatures of the evidence.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        // The page's HTTP server; why this one: Decisions/PageServer.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // The field's words and the Central protocol. Pure. Public, though no product offers it: of other modules the compiler
        // specialises and inlines only what is public, and these values are compared and read for every packet (12 % of the
        // processor time of storing samples). Everything else that targets share is `package`.
        .target(name: "Bluetooth", swiftSettings: optimised),
        .testTarget(name: "BluetoothTests", dependencies: ["Bluetooth"], swiftSettings: settings),

        // How to recognise, start, query, drain and decode each headset. Pure.
        .target(name: "Headsets", dependencies: ["Bluetooth"], swiftSettings: optimised),
        .testTarget(name: "HeadsetsTests", dependencies: ["Headsets", "Simulation", "Bluetooth"], swiftSettings: settings),

        // YAML that a person wrote, read with all problems at once. The only user of Yams.
        .target(name: "YAMLReading", dependencies: [yams], swiftSettings: settings),
        .testTarget(name: "YAMLReadingTests", dependencies: ["YAMLReading"], swiftSettings: settings),

        // Headsets that somebody has described in a file: from YAML to a profile.
        .target(name: "HeadsetDescriptors", dependencies: ["Headsets", "Bluetooth", "YAMLReading"], swiftSettings: settings),
        .testTarget(
            name: "HeadsetDescriptorsTests",
            dependencies: ["HeadsetDescriptors", "ShippedHeadsets", "Headsets", "Simulation", "Bluetooth", "YAMLReading"],
            swiftSettings: settings),
        // The descriptors that come with the program, embedded in the binary.
        .target(
            name: "ShippedHeadsets", path: "Deploy/headsets",
            resources: [
                .embedInCode("ads1299-nus.yaml"), .embedInCode("cleio-template.yaml"), .embedInCode("hermes-described.yaml"),
                .embedInCode("openbci-nus.yaml"), .embedInCode("openearable-exg.yaml"),
            ], swiftSettings: settings),

        // The connection state machine. Pure.
        .target(name: "Reconnection", dependencies: ["Bluetooth", "Headsets"], swiftSettings: optimised),
        .testTarget(
            name: "ReconnectionTests", dependencies: ["Reconnection", "Bluetooth", "Headsets"], swiftSettings: settings),

        // The ordered SQL, embedded in the binary.
        .target(
            name: "Migrations", path: "Migrations", exclude: ["released.sha256"],
            resources: [.embedInCode("schema.sql"), .embedInCode("sql"), .embedInCode("postgresql")], swiftSettings: settings),

        // What is computed of rows so that anybody can see later that they are what was written. Pure. The only user of Crypto.
        .target(name: "Evidence", dependencies: [crypto], swiftSettings: optimised),
        .testTarget(name: "EvidenceTests", dependencies: ["Evidence"], swiftSettings: settings),

        // Settings of SQLite for the whole process, made before main(); nothing is called.
        .target(name: "CSQLite"),
        // The only user of SQLite.
        .target(
            name: "Storage", dependencies: ["Evidence", "Migrations", "Headsets", "Bluetooth", "CSQLite", grdb, grdbSQLite],
            swiftSettings: optimised),
        .testTarget(
            name: "StorageTests",
            dependencies: ["Storage", "Evidence", "Migrations", "Headsets", "Bluetooth", grdb, grdbSQLite],
            swiftSettings: settings),

        // Recordings to files: CSV, EDF+, BDF+, sqlite.
        .target(
            name: "Export", dependencies: ["Storage", "Headsets", "Bluetooth"],
            // Parquet is written by pyarrow, which this program asks.
            resources: [.embedInCode("Parquet/rows.py")], swiftSettings: settings),
        .testTarget(
            name: "ExportTests", dependencies: ["Export", "Storage", "Headsets", "Bluetooth"], swiftSettings: settings),

        // What a recording was like, as a page for people who look: spectra, pictures over time, and the HTML around them.
        .target(name: "Report", dependencies: ["Storage", "Headsets"], swiftSettings: optimised),
        .testTarget(
            name: "ReportTests", dependencies: ["Report", "Storage", "Headsets", "Bluetooth"], swiftSettings: settings),

        // The central over bluetoothd's D-Bus interface.
        .target(
            name: "BlueZ", dependencies: ["Bluetooth", "BluetoothManagement", "CSystemd", "CLinux"],
            swiftSettings: settings),
        .testTarget(name: "BlueZTests", dependencies: ["BlueZ", "Bluetooth", "CSystemd"], swiftSettings: settings),

        // What goes over the air, in files: btsnoop captures read and written.
        .target(name: "Capture", dependencies: ["Bluetooth"], swiftSettings: optimised),
        .testTarget(
            name: "CaptureTests", dependencies: ["Capture", "Simulation", "Headsets", "Bluetooth"], swiftSettings: settings),

        // A seeded Bluetooth world in virtual time: headsets, faults, and a Central.
        .target(name: "Simulation", dependencies: ["Bluetooth", "Headsets"], swiftSettings: optimised),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "Bluetooth", "Headsets"], swiftSettings: settings),

        // From blocks of samples to rows, gaps and times.
        .target(name: "Assembly", dependencies: ["Bluetooth", "Headsets", "Storage"], swiftSettings: optimised),
        .testTarget(
            name: "AssemblyTests", dependencies: ["Assembly", "Simulation", "Storage", "Headsets", "Bluetooth"],
            swiftSettings: optimised),

        // What the daemon says while it records, for programs beside it: messages, their frames, and who is how far. Pure.
        .target(name: "Tap", dependencies: ["Bluetooth", "Headsets", "Storage"], swiftSettings: optimised),
        .testTarget(name: "TapTests", dependencies: ["Tap", "Bluetooth", "Headsets", "Storage"], swiftSettings: settings),

        // From the central's events to the database's batches: drives machines, decodes, commits.
        .target(
            name: "Acquisition",
            dependencies: ["Assembly", "Bluetooth", "Capture", "Headsets", "Reconnection", "Storage", "Tap", "CLinux"],
            swiftSettings: optimised),
        .testTarget(
            name: "AcquisitionTests",
            dependencies: [
                "Acquisition", "Assembly", "Reconnection", "Rehearsal", "Simulation", "Storage", "Tap", "Headsets",
                "Bluetooth", "CLinux",
            ],
            swiftSettings: settings),

        // The whole acquisition in virtual time against a simulated world, with checkers for every promise.
        .target(
            name: "Rehearsal",
            dependencies: ["Bluetooth", "Capture", "Headsets", "Reconnection", "Storage", "Tap", "Acquisition", "Simulation"],
            swiftSettings: optimised),
        .testTarget(
            name: "RehearsalTests",
            dependencies: [
                "Rehearsal", "Acquisition", "Assembly", "Capture", "Simulation", "Storage", "Tap", "Headsets",
                "Reconnection", "Bluetooth",
            ],
            swiftSettings: settings),

        // The Attribute Protocol and the client of the Generic Attribute Profile. Pure.
        .target(name: "AttributeProtocol", dependencies: ["Bluetooth"], swiftSettings: settings),
        .testTarget(
            name: "AttributeProtocolTests", dependencies: ["AttributeProtocol", "Simulation", "Bluetooth"],
            swiftSettings: settings),

        // The kernel's Bluetooth management channel: adapters, connection parameters, why links ended.
        .target(name: "BluetoothManagement", dependencies: ["Bluetooth", "CBluetooth", "CLinux"], swiftSettings: settings),
        .testTarget(
            name: "BluetoothManagementTests", dependencies: ["BluetoothManagement", "Bluetooth"], swiftSettings: settings),

        // The centrals over the kernel's own sockets: Low Energy, and serial ports over Bluetooth Classic.
        .target(
            name: "KernelBluetooth",
            dependencies: ["AttributeProtocol", "Bluetooth", "BluetoothManagement", "CBluetooth", "CLinux"],
            swiftSettings: settings),
        .testTarget(
            name: "KernelBluetoothTests",
            dependencies: ["KernelBluetooth", "AttributeProtocol", "Bluetooth", "BluetoothManagement", "CLinux"],
            swiftSettings: settings),
        // Layouts and constants of the kernel's Bluetooth sockets; nothing is linked.
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),

        // Linux system calls that Glibc's module lacks.
        .target(name: "CLinux"),
        // The commit that the program is built of, where the build says it: Swift's own -D has no values.
        .target(
            name: "CBuild",
            cSettings: Context.environment["EEGSYNC_COMMIT"].map { [.define("EEGSYNC_COMMIT", to: "\"\($0)\"")] }
        ),
        // libsystemd: notifications to the service manager, and D-Bus.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

        // Who is to be notified of what: rules, debouncing, queues, the shapes of messages. Pure.
        .target(name: "Alerts", dependencies: ["Bluetooth"], swiftSettings: settings),
        .testTarget(name: "AlertsTests", dependencies: ["Alerts", "Bluetooth"], swiftSettings: settings),

        // Figures for programs that watch, as OpenMetrics, and the requests for them. Pure.
        .target(name: "Metrics", swiftSettings: settings),
        .testTarget(name: "MetricsTests", dependencies: ["Metrics"], swiftSettings: settings),

        // libpq (Debian's libpq-dev), for what is sent to a centre: the one client that every PostgreSQL server is tested with,
        // TLS, password files and COPY included. Debian patches it. Not linked: it is loaded where it is used, so that what
        // records maps none of its thirty libraries.
        .target(name: "CPostgreSQL"),
        // Databases of many machines together, in PostgreSQL. The only user of libpq.
        .target(
            name: "Centre", dependencies: ["Bluetooth", "CPostgreSQL", "Evidence", "Migrations", "Storage"],
            swiftSettings: settings),
        .testTarget(
            name: "CentreTests", dependencies: ["Bluetooth", "Centre", "Evidence", "Storage"], swiftSettings: settings),

        // The page in a browser: HTTP, what it draws of signals, and its own modules, embedded in the binary. The only user of
        // SwiftNIO.
        .target(
            name: "Page", dependencies: ["Headsets", "Storage", nioCore, nioHTTP1, nioPosix],
            resources: [.embedInCode("Assets")], swiftSettings: optimised),
        .testTarget(
            name: "PageTests",
            dependencies: ["Page", "Storage", "Headsets", "Bluetooth", nioCore, nioEmbedded, nioHTTP1, nioPosix],
            swiftSettings: settings),

        // The commands, the configuration, the wiring, the exit codes.
        .executableTarget(
            name: "eegsync",
            dependencies: [
                "Bluetooth", "BluetoothManagement", "Capture", "Headsets", "HeadsetDescriptors", "ShippedHeadsets", "Storage",
                "Evidence", "Export", "Report", "Acquisition", "Assembly", "Reconnection", "BlueZ", "KernelBluetooth",
                "Simulation", "Rehearsal", "Alerts", "Centre", "Metrics", "Page", "Tap", "CBuild", "CLinux", "CSystemd",
                "YAMLReading", argumentParser, lifecycle, unixSignals, logging,
            ],
            exclude: ["eegsync.docc"], swiftSettings: settings),
        .testTarget(
            name: "EegsyncTests",
            dependencies: [
                "eegsync", "Bluetooth", "Capture", "Headsets", "Storage", "Acquisition", "Reconnection", "KernelBluetooth",
                "Alerts", "Centre", "Export", "Metrics", "Page", "Simulation", "Rehearsal", "Tap", "YAMLReading", "CLinux",
                argumentParser, grdb,
            ], swiftSettings: settings),

        // Workloads that Tests/Benchmarks/run measures beside their floors.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Acquisition", "Rehearsal", "Simulation", "Storage", "Export", "Reconnection", "HeadsetDescriptors",
                "ShippedHeadsets", "Headsets", "Bluetooth", "CBenchmarks",
            ],
            path: "Tests/Benchmarks", exclude: ["run", "card", "floor.c", "viewers", "CBenchmarks"], swiftSettings: settings),
        // A count of allocations, and the loop that decoders are measured beside.
        .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),

        // Weeks of the whole acquisition, simulated, into a real file: what Tests/Weeks/run measures.
        .executableTarget(
            name: "Weeks", dependencies: ["Rehearsal", "CLinux"], path: "Tests/Weeks", exclude: ["run"], swiftSettings: settings
        ),

        // The built daemon, killed at random instants, and given everything that a machine can do to it.
        .testTarget(
            name: "KillTests", dependencies: ["eegsync", "Simulation", "Storage", "Headsets", "Bluetooth", "CLinux", grdb],
            swiftSettings: settings),

        // The contract of Central as cases for any central, and two that are put to the test: the simulation's here, and
        // bluetoothd's in the lab.
        .target(
            name: "CentralContract", dependencies: ["Bluetooth", "Headsets"], path: "Tests/CentralContract/Contract",
            swiftSettings: settings),
        .testTarget(
            name: "CentralContractTests", dependencies: ["CentralContract", "Simulation", "Headsets", "Bluetooth"],
            swiftSettings: settings),
        .executableTarget(
            name: "central-contract",
            dependencies: [
                "CentralContract", "BlueZ", "KernelBluetooth", "BluetoothManagement", "Headsets", "Bluetooth", "CLinux",
            ],
            path: "Tests/CentralContract/Live", swiftSettings: settings),

        // Everything that reads bytes from outside, and what must hold of it; the corpus that fuzzing has kept is a test.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Acquisition", "AttributeProtocol", "Bluetooth", "BluetoothManagement", "Capture", "Headsets",
                "HeadsetDescriptors", "KernelBluetooth", "Page", "Rehearsal", "ShippedHeadsets", "Simulation", "Storage", "Tap",
                "YAMLReading", nioCore, nioEmbedded, nioHTTP1,
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: optimised),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: settings),

        // The rules of the house that can be checked by reading the tree.
        .testTarget(name: "TidyTests", swiftSettings: settings),
    ]
)

// libFuzzer has the `main` of this program, and only Tests/Fuzz/run asks for libFuzzer: no other build knows of it.
if Context.environment["EEGSYNC_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Program",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}

import Foundation

/// The functions of liblsl that are called, found in the library when the program runs: nothing of it is compiled in or linked.
///
/// Their signatures are those of liblsl's C interface, which has kept them since 1.14.
struct LSLLibrary: Sendable {
    typealias CreateInfo = @convention(c) @Sendable (UnsafePointer<CChar>) -> OpaquePointer?
    typealias WithInfo = @convention(c) @Sendable (OpaquePointer) -> Void
    typealias CreateOutlet = @convention(c) @Sendable (OpaquePointer, Int32, Int32) -> OpaquePointer?
    typealias PushFloats =
        @convention(c) @Sendable (OpaquePointer, UnsafePointer<Float>, UInt, UnsafePointer<Double>, Int32) -> Int32
    typealias PushDoubles =
        @convention(c) @Sendable (OpaquePointer, UnsafePointer<Double>, UInt, UnsafePointer<Double>, Int32) -> Int32
    typealias PushText =
        @convention(c) @Sendable (OpaquePointer, UnsafePointer<UnsafePointer<CChar>?>, Double, Int32) -> Int32
    typealias Resolve =
        @convention(c) @Sendable (UnsafeMutablePointer<OpaquePointer?>, UInt32, UnsafePointer<CChar>, Int32, Double) -> Int32
    typealias CreateInlet = @convention(c) @Sendable (OpaquePointer, Int32, Int32, Int32) -> OpaquePointer?
    typealias PullText =
        @convention(c) @Sendable (
            OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, Int32, Double, UnsafeMutablePointer<Int32>
        ) -> Double
    typealias Correct = @convention(c) @Sendable (OpaquePointer, Double, UnsafeMutablePointer<Int32>) -> Double
    typealias InfoText = @convention(c) @Sendable (OpaquePointer) -> UnsafePointer<CChar>?
    typealias InfoNumber = @convention(c) @Sendable (OpaquePointer) -> Int32

    /// 100 times the major version and the minor one.
    let version: Int32
    /// Seconds of `CLOCK_MONOTONIC`, whatever liblsl takes for that.
    let localClock: @convention(c) @Sendable () -> Double
    let infoFromXML: CreateInfo
    let destroyInfo: WithInfo
    let createOutlet: CreateOutlet
    let destroyOutlet: WithInfo
    let pushFloats: PushFloats
    let pushDoubles: PushDoubles
    let pushText: PushText
    let resolve: Resolve
    let createInlet: CreateInlet
    let destroyInlet: WithInfo
    let pullText: PullText
    let timeCorrection: Correct
    let destroyText: @convention(c) @Sendable (UnsafeMutablePointer<CChar>) -> Void
    let sourceID: InfoText
    let infoName: InfoText
    let channelCount: InfoNumber

    /// By which names the library is installed.
    static let names = ["liblsl.so.2", "liblsl.so", "liblsl64.so"]

    /// Loads it.
    ///
    /// - Parameter path: the library's file; nil for where the system finds it.
    init(path: String?) throws(LSLError) {
        let tried = path.map { [$0] } ?? Self.names
        var (handle, reason) = (UnsafeMutableRawPointer?.none, "")
        for name in tried where handle == nil {
            handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)
            if handle == nil { reason = dlerror().map { String(cString: $0) } ?? "" }
        }
        // It stays loaded as long as the process runs.
        guard let library = handle else { throw .noLibrary(tried: tried, reason: reason) }
        let readVersion: (@convention(c) @Sendable () -> Int32)? = Self.function("lsl_library_version", of: library)
        let version = readVersion?() ?? 0
        func required<Function>(_ name: String) throws(LSLError) -> Function {
            guard let function: Function = Self.function(name, of: library) else {
                throw .tooOld(version: version, function: name)
            }
            return function
        }
        self.version = version
        localClock = try required("lsl_local_clock")
        infoFromXML = try required("lsl_streaminfo_from_xml")
        destroyInfo = try required("lsl_destroy_streaminfo")
        createOutlet = try required("lsl_create_outlet")
        destroyOutlet = try required("lsl_destroy_outlet")
        pushFloats = try required("lsl_push_chunk_ftnp")
        pushDoubles = try required("lsl_push_chunk_dtnp")
        pushText = try required("lsl_push_sample_strtp")
        resolve = try required("lsl_resolve_bypred")
        createInlet = try required("lsl_create_inlet")
        destroyInlet = try required("lsl_destroy_inlet")
        pullText = try required("lsl_pull_sample_str")
        timeCorrection = try required("lsl_time_correction")
        destroyText = try required("lsl_destroy_string")
        sourceID = try required("lsl_get_source_id")
        infoName = try required("lsl_get_name")
        channelCount = try required("lsl_get_channel_count")
    }

    /// A function of a loaded library; nil where it has none of the name.
    private static func function<Function>(_ name: String, of library: UnsafeMutableRawPointer) -> Function? {
        // The symbol is the function's address, and the caller says its C signature, as liblsl's documentation has it.
        dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
    }
}

import FuzzTargets
import Glibc

// libFuzzer has the `main` of this program, and calls these two by their names. It is built by Tests/Fuzz/run alone.

/// The target, chosen before libFuzzer begins.
private let target: FuzzTarget = {
    let name = getenv("EEGSYNC_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.named(name) else {
        print("EEGSYNC_FUZZ_TARGET=\(name) is none of \((FuzzTarget.all + FuzzTarget.planted).map(\.name))")
        exit(64)
    }
    return target
}()

/// Reads one input; a broken rule ends the process, as a crash does.
@_cdecl("LLVMFuzzerTestOneInput")
package func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    if let broken = target.run(Array(UnsafeBufferPointer(start: start, count: count))) {
        fatalError("\(target.name): \(broken)")
    }
    return 0
}

import Acquisition
import Foundation

/// Time zones as this machine knows them.
enum ZoneDatabase {
    static let utcOffset: UTCOffset = { zone, unix in
        TimeZone(identifier: zone).map { Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unix)))) }
    }
}

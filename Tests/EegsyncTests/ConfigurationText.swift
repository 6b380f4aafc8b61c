import YAMLReading

@testable import eegsync

let models = Configuration.knownModels

func parse(_ text: String) throws(ConfigurationError) -> Configuration {
    try ConfigurationParser.parse(text, file: "test.yaml", models: models)
}

func problems(_ text: String) -> [String] {
    do throws(ConfigurationError) {
        // Alerts that are wrong refuse no file by themselves.
        if let error = try parse(text).alertsError { throw error }
        return []
    } catch .wrong(_, let error) {
        return error.problems.map(\.description)
    } catch {
        return ["\(error)"]
    }
}

/// A right configuration with one line replaced or added.
func configuration(
    database: String = "database: /tmp/a.sqlite", headset: String = "{name: left, model: buffered-eeg}",
    central: String = "{kind: simulation, headsets: []}", more: String = ""
) -> String {
    "\(database)\ncentral: \(central)\nheadsets:\n  - \(headset)\n\(more)\n"
}

/// What the machine itself says of its health.
struct BoardSensors {
    let files: SystemFiles

    /// The warmest thermal zone in degrees Celsius; nil where there is none. Files hold thousandths
    /// (Documentation/ABI/testing/sysfs-class-thermal of the kernel).
    var temperatureCelsius: Double? {
        let zones = files.names(in: "/sys/class/thermal").filter { $0.hasPrefix("thermal_zone") }
        return zones.compactMap { files.text("/sys/class/thermal/\($0)/temp").flatMap(Double.init) }
            // Sensors that are broken or switched off say nonsense.
            .filter { $0 > -40_000 && $0 < 200_000 }.max().map { $0 / 1000 }
    }

    /// Whether a Raspberry Pi's supply is too weak; nil on other machines. The kernel's driver asks the firmware each second
    /// (drivers/hwmon/raspberrypi-hwmon.c).
    var isUndervoltage: Bool? {
        let monitors = files.names(in: "/sys/class/hwmon")
        guard let monitor = monitors.first(where: { files.text("/sys/class/hwmon/\($0)/name") == "rpi_volt" }) else {
            return nil
        }
        return files.text("/sys/class/hwmon/\(monitor)/in0_lcrit_alarm").map { $0 == "1" }
    }
}

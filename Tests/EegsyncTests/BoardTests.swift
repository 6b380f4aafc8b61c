import Foundation
import Testing

@testable import Alerts
@testable import eegsync

/// Lamps and sensors, in a directory that stands for /sys.
@Suite struct BoardTests {
    private func lamp(_ directory: TestDirectory, trigger: String = "none [mmc0] timer") throws {
        try directory.write(trigger, to: "sys/class/leds/ACT/trigger")
        try directory.write("0", to: "sys/class/leds/ACT/brightness")
        try directory.write("255", to: "sys/class/leds/ACT/max_brightness")
    }

    private func led(_ directory: TestDirectory, _ name: String = "ACT", trigger: String? = nil) -> StatusLED {
        StatusLED(lamp: .init(name: name, trigger: trigger), files: SystemFiles(root: directory.url.path))
    }

    @Test func aLampIsLitAndPutOut() throws {
        let directory = try TestDirectory()
        try lamp(directory)
        #expect(led(directory).set(isLit: true) == nil)
        #expect(directory.text("sys/class/leds/ACT/trigger") == "none")
        #expect(directory.text("sys/class/leds/ACT/brightness") == "255")
        #expect(led(directory).set(isLit: false) == nil)
        #expect(directory.text("sys/class/leds/ACT/brightness") == "0")
    }

    @Test func aLampBlinksByItsTrigger() throws {
        let directory = try TestDirectory()
        try lamp(directory)
        #expect(led(directory, trigger: "timer").set(isLit: true) == nil)
        #expect(directory.text("sys/class/leds/ACT/trigger") == "timer")
        #expect(directory.text("sys/class/leds/ACT/brightness") == "0", "the trigger switches it")
    }

    @Test func aTestLeavesTheLampAsItWas() throws {
        let directory = try TestDirectory()
        try lamp(directory)
        #expect(led(directory).blink() == .delivered)
        #expect(directory.text("sys/class/leds/ACT/trigger") == "mmc0")
    }

    @Test func aLampThatIsNotThereIsNamedWithThoseThatAre() throws {
        let directory = try TestDirectory()
        try lamp(directory)
        #expect(led(directory, "PWR").set(isLit: true) == "there is no LED PWR; there are ACT")
    }

    @Test func theWarmestZoneCounts() throws {
        let directory = try TestDirectory()
        let sensors = BoardSensors(files: SystemFiles(root: directory.url.path))
        #expect(sensors.temperatureCelsius == nil && sensors.isUndervoltage == nil)
        try directory.write("48312\n", to: "sys/class/thermal/thermal_zone0/temp")
        try directory.write("82400\n", to: "sys/class/thermal/thermal_zone1/temp")
        try directory.write("-274000\n", to: "sys/class/thermal/thermal_zone2/temp")
        try directory.write("99000\n", to: "sys/class/thermal/cooling_device0/temp")
        #expect(sensors.temperatureCelsius == 82.4)
    }

    @Test func onlyTheRaspberryPisMonitorSpeaksOfItsSupply() throws {
        let directory = try TestDirectory()
        let sensors = BoardSensors(files: SystemFiles(root: directory.url.path))
        try directory.write("nvme\n", to: "sys/class/hwmon/hwmon0/name")
        try directory.write("1\n", to: "sys/class/hwmon/hwmon0/in0_lcrit_alarm")
        #expect(sensors.isUndervoltage == nil)
        try directory.write("rpi_volt\n", to: "sys/class/hwmon/hwmon1/name")
        try directory.write("0\n", to: "sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        #expect(sensors.isUndervoltage == false)
        try directory.write("1\n", to: "sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        #expect(sensors.isUndervoltage == true)
    }
}

import ArgumentParser

/// `eegsync configuration`: whether a configuration is right, and one that comes with a card.
struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration",
        abstract: "Check a configuration, or install the one that lies on the boot partition.",
        discussion: """
            `eegsync setup` writes a configuration; `systemctl reload eegsync` lets the service read it again.

            EXAMPLES
              eegsync configuration check /etc/eegsync/eegsync.yaml
              eegsync configuration check new.yaml --json
            """,
        subcommands: [CheckConfiguration.self, ProvisionConfiguration.self])
}

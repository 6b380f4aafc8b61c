/// A small right descriptor for tests to change. Each argument is put in as it is, with its indentation.
func smallDescriptor(
    stream: String = "counter: {samples_per_count: 2}", source: String = "", packet: String = "counter: {at: 0, type: u8}",
    samples: String = "{stream: eeg, at: 1, type: i16le, instants: 2}", more: String = "", channels: String = "[A, B]"
) -> String {
    """
    descriptor: 1
    model: small
    name: Small
    recognise: {name_prefixes: [Small]}
    gatt: {services: [FE00], characteristics: {data: FE01, command: FE02}}
    timing: {packet_period_milliseconds: 10}
    streams:
      - name: eeg
        sampling_frequency_hertz: 200
        channels: \(channels)
        scale: 0.5
        \(stream)
    sources:
      - characteristic: data
        \(source)
        packets:
          - name: samples
            \(packet)
            samples: \(samples)
    \(more)
    """
}

package settings

// Telemetry sets up what programs are told that watch this one.
type Telemetry struct {
	Metrics bool   `yaml:"metrics" doc:"Answer GET /metrics of toolcrib serve with numbers for Prometheus. Who asks needs your own token, or one with watches: true, since the numbers name every tool that was called."`
	Traces  Traces `yaml:"traces" doc:"Traces for OpenTelemetry."`
}

// Traces says where traces go.
type Traces struct {
	Enabled  bool              `yaml:"enabled" doc:"Send a trace of every call. Without it nothing is sent, whatever the OTEL_ variables say."`
	Endpoint string            `yaml:"endpoint" doc:"Where a collector takes OTLP over HTTP as JSON, such as http://127.0.0.1:4318; /v1/traces is added if there is no path. Empty: what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT says, else port 4318 of this machine."`
	Headers  map[string]string `yaml:"headers" secret:"true" doc:"Headers that are sent to it, such as Authorization: Bearer ${secret:NAME}. They need an endpoint here, with https unless it is on this machine. Without any, those of OTEL_EXPORTER_OTLP_HEADERS are sent to the endpoint of the variables."`
	Sample   float64           `yaml:"sample" min:"0" max:"1" doc:"The share of traces that are recorded. A client that sends a trace of its own decides about that one itself."`
	Content  bool              `yaml:"content" doc:"Record arguments, results and the words of refusals as well, redacted as in the journal. It needs https unless the endpoint is on this machine."`
	Service  string            `yaml:"service" doc:"The name of this program in traces. Empty: OTEL_SERVICE_NAME, else toolcrib."`
}

// DefaultTelemetry is that of a fresh machine: off.
func DefaultTelemetry() Telemetry { return Telemetry{Traces: Traces{Sample: 1}} }

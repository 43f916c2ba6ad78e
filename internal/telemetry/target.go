package telemetry

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

// Settings is where traces go as people say it: in settings, and for what those
// leave empty in the variables that every program with OpenTelemetry reads.
type Settings struct {
	Endpoint string
	Headers  map[string]string // with references in them; only their names are looked at here
	Service  string
	Content  bool // texts of calls are sent
	Getenv   func(string) string
}

const defaultEndpoint = "http://localhost:4318"

// Target finds out where traces go. What the settings say is sent is only sent to
// where the settings say; variables may come from whoever started the program.
// fixed are the headers of the variables.
func (s Settings) Target() (to Target, fixed http.Header, err error) {
	where, from, added := s.Endpoint, "telemetry.traces.endpoint", true
	fixed = http.Header{}
	if where == "" {
		if len(s.Headers) > 0 {
			return to, nil, errors.New("telemetry.traces.headers are set and telemetry.traces.endpoint is not: say where they may be sent")
		}
		if where, from, err = s.variables(); err != nil {
			return to, nil, err
		}
		added = from != "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
		for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
			list, err := pairs(s.Getenv(name))
			if err != nil {
				return to, nil, fmt.Errorf("%s: %w", name, err)
			}
			for _, p := range list {
				if strings.Trim(p[0], mcp.HeaderLetters) != "" || strings.ContainsFunc(p[1], unicode.IsControl) || !utf8.ValidString(p[1]) {
					return to, nil, fmt.Errorf("%s: a header has signs in its name or its value that headers cannot have", name) // which one may be a secret
				}
				fixed.Set(p[0], p[1])
			}
		}
	}
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return to, nil, fmt.Errorf("%s: it is no address of a collector; write it as http://HOST:4318 or https://HOST/v1/traces", from)
	}
	if u.User != nil {
		return to, nil, fmt.Errorf("%s: it holds a password; put it into telemetry.traces.headers, as Authorization", from)
	}
	if u.Scheme == "http" && !plainaddr.IsLoopback(u.Hostname()) && (len(s.Headers) > 0 || len(fixed) > 0 || s.Content) {
		return to, nil, fmt.Errorf("%s: headers and the texts of calls are sent by https only, except to this machine", from)
	}
	if added && (from != "telemetry.traces.endpoint" || strings.Trim(u.Path, "/") == "") {
		u = u.JoinPath("v1/traces")
	}
	to.URL, to.Service = u.String(), cmp.Or(s.Service, s.Getenv("OTEL_SERVICE_NAME"), "toolcrib")
	if to.Resource, err = pairs(s.Getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return to, nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	to.Resource = slices.DeleteFunc(to.Resource, func(p [2]string) bool { return p[0] == "service.name" || p[0] == "service.version" })
	return to, fixed, nil
}

// variables is where the usual variables say.
func (s Settings) variables() (where, from string, err error) {
	for _, from := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if where = s.Getenv(from); where == "" {
			continue
		}
		if p := cmp.Or(s.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), s.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")); p == "grpc" {
			return "", "", fmt.Errorf("%s is for gRPC, as OTEL_EXPORTER_OTLP_PROTOCOL says, and traces are sent over HTTP: set telemetry.traces.endpoint to where the collector takes that, mostly port 4318", from)
		}
		return where, from, nil
	}
	return defaultEndpoint, "the default", nil
}

// pairs reads a list such as key=value,other=value, in which values are written
// as in addresses.
func pairs(text string) (out [][2]string, err error) {
	found := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, errors.New("it is no list such as key=value,other=value") // what it is may be a secret
		}
		if value, err = url.PathUnescape(strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("the value of %s is not written as in an address", key)
		}
		found[key] = value
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, [2]string{key, found[key]})
	}
	return out, nil
}

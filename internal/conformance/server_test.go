package conformance

import (
	"fmt"
	"testing"
)

// bare configures a gateway that has nothing but the upstream named
// everything, and that changes nothing of what passes: the suite reads what
// the upstream says, so results must not be marked as coming from outside, and
// nobody is there to be asked.
func bare(url string) string {
	return fmt.Sprintf(`mode: yolo
log: {level: warn}
safety:
  labels: {everything: [none]}
toolboxes:
  clock: {enabled: false}
  files: {enabled: false}
  interact: {enabled: false}
  math: {enabled: false}
hub: {wait: 2m}
mcp_servers:
  everything: {url: %q, names: bare, sampling: pass, pins: off}
`, url)
}

// The suite talks to toolcrib, which stands in front of the SDK's server: what
// passes directly must pass through a gateway.
func TestGenuineSuiteAgainstServer(t *testing.T) {
	peers(t)
	server := buildEverything(t)
	for _, revision := range revisions() {
		t.Run(revision, func(t *testing.T) {
			url := gateway(t, bare(everything(t, server, revision == "2026-07-28")))
			conform(t, "server", revision, "--url", url)
		})
	}
}

package conformance

import (
	"fmt"
	"testing"
)

// bare configures a gateway that changes nothing of what passes, since the
// suite reads what the upstream says: results are not marked as coming from
// outside, and definitions are not pinned.
func bare(url string) string {
	return front(url, "safety:\n  labels: {everything: [none]}\n", ", pins: off")
}

// guarded configures a gateway with the marks and the pins that every server
// has unless a person says otherwise.
func guarded(url string) string { return front(url, "", "") }

// front configures a gateway that has nothing but the upstream named
// everything. Nobody is there to be asked.
func front(url, settings, ofServer string) string {
	return fmt.Sprintf(`mode: yolo
log: {level: warn}
%stoolboxes:
  clock: {enabled: false}
  files: {enabled: false}
  interact: {enabled: false}
  math: {enabled: false}
hub: {wait: 2m}
mcp_servers:
  everything: {url: %q, names: bare, sampling: pass%s}
`, settings, url, ofServer)
}

// The suite talks to toolcrib, which stands in front of the SDK's server: what
// passes directly must pass through a gateway. The gateways of a revision are
// judged at the same time, since a run waits more than it works.
func TestGenuineSuiteAgainstServer(t *testing.T) {
	peers(t)
	server := buildEverything(t)
	for _, revision := range revisions() {
		t.Run(revision, func(t *testing.T) {
			for run, config := range map[string]func(url string) string{"server": bare, "guarded server": guarded} {
				t.Run(run, func(t *testing.T) {
					t.Parallel()
					url := gateway(t, config(everything(t, server, revision == "2026-07-28")))
					conform(t, run, revision, "--url", url)
				})
			}
		})
	}
}

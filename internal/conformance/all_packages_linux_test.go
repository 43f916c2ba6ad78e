package conformance

import "testing"

// TestGenuinePackages installs what the other tests need, so that it can be done while
// others run ("make packages"): it mostly waits for the network.
func TestGenuinePackages(t *testing.T) {
	peers(t)
	clientPrograms(t)
	genuine(t)
	modelSDKs(t)
	chatClients(t)
	schemathesis(t)
	voice(t)
	packagesOf(t, "jupyter", jupyterPackages)
	for name, packages := range assistantPackages() {
		packagesOf(t, name, packages)
	}
	personas(t)
	if _, err := installBeside(t.Context(), genuine(t).base, "code", codePackages, "--no-compile"); err != nil {
		t.Fatal(err)
	}
}

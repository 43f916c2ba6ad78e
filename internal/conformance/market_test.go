package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// agenticxRegistry serves AgenticX' own registry, publishes with its own client, and says
// what that client installs. It ends with its input.
const agenticxRegistry = `
import json, socket, sys, threading, time
from pathlib import Path
import uvicorn
from agenticx.skills.registry import RegistrySkillEntry, SkillRegistryClient, SkillRegistryServer
here = Path(sys.argv[1])
sock = socket.socket(); sock.bind(("127.0.0.1", 0))
url = "http://127.0.0.1:%d" % sock.getsockname()[1]
registry = SkillRegistryServer(storage_path=here / "registry.json")
server = uvicorn.Server(uvicorn.Config(registry.create_app(), log_level="error"))
threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True).start()
client = SkillRegistryClient(url)
for version, text in (("0.9.0", "First."), ("1.0.0", "By hand, with a seal: é.")):
    skill = here / "letters"; skill.mkdir(exist_ok=True)
    (skill / "SKILL.md").write_text("---\nname: letters\nversion: %s\ndescription: How to write letters.\n---\n%s\n" % (version, text), encoding="utf-8")
    for _ in range(600):
        try:
            client.publish(skill); break
        except Exception as e:
            if "409" in str(e): break
            time.sleep(0.1)
registry.storage.publish(RegistrySkillEntry(name="tampered", version="1.0.0", description="letters too", checksum="0" * 64, skill_content="---\nname: tampered\n---\nEvil."))
out = {"url": url, "found": sorted({e.name for e in client.search("letters")})}
for name in ("letters", "tampered"):
    path = client.install(name, target_dir=here / "out")
    path = path / "SKILL.md" if path.is_dir() else path
    out[name] = path.read_text(encoding="utf-8")
print(json.dumps(out), flush=True)
sys.stdin.read()
`

// TestGenuineAgenticXRegistry: what AgenticX' own client published is found and fetched as
// that client would. It takes content with a wrong checksum, and we do not.
func TestGenuineAgenticXRegistry(t *testing.T) {
	cmd := exec.Command(genuine(t).base.python, "-c", agenticxRegistry, t.TempDir())
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir())
	var complaints bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &complaints, 10*time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // it has nothing left to say
		_ = cmd.Wait()
	})
	var theirs struct {
		URL, Letters, Tampered string
		Found                  []string
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &theirs)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	m, err := market.Open(settings.Market{Registries: map[string]settings.Registry{"agx": {Type: "agenticx", URL: theirs.URL}}}, market.Needs{State: t.TempDir(), Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }() // it was only read
	found, err := m.Search(t.Context(), market.Query{Text: "letters"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range found.Results {
		names = append(names, r.Name)
	}
	if strings.Join(names, " ") != strings.Join(theirs.Found, " ") {
		t.Errorf("found %q, AgenticX %q: %+v", names, theirs.Found, found.Registries)
	}
	r, err := m.Show(t.Context(), "letters", "", "")
	if err != nil || r.Version != "1.0.0" {
		t.Fatalf("%+v, %v", r, err)
	}
	content, err := m.Fetch(t.Context(), *r)
	if err != nil || !strings.Contains(theirs.Letters, "By hand, with a seal: é.") {
		t.Fatalf("%v, %q", err, theirs.Letters)
	}
	at, err := content.Write(t.TempDir())
	if err != nil || filepath.Base(at) != "letters" || !strings.Contains(string(content.Files["SKILL.md"]), "By hand, with a seal: é.") {
		t.Errorf("%s, %v", at, err)
	}
	if r, err = m.Show(t.Context(), "letters", "0.9.0", ""); err != nil || r.Version != "0.9.0" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = m.Show(t.Context(), "tampered", "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fetch(t.Context(), *r); err == nil || !strings.Contains(err.Error(), "not what the registry announced") || !strings.Contains(theirs.Tampered, "Evil.") {
		t.Errorf("%v; AgenticX installed %q", err, theirs.Tampered)
	}
}

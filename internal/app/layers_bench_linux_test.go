package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// works are commands whose cost on a layer counts: from the call to its result, with
// what judging and applying the changes takes.
func benchWorks() map[string]string {
	return map[string]string{
		"nothing":      `:`,
		"1000 files":   `D=$(date +%s%N); mkdir $D; i=0; while [ $i -lt 1000 ]; do echo $i > $D/$i; i=$((i+1)); done`,
		"10000 files":  `D=$(date +%s%N); perl -e 'mkdir $ARGV[0]; for (1..10000) { open F, ">$ARGV[0]/$_"; print F "$_\n"; close F }' $D`,
		"10000 in old": `D=$(date +%s%N); perl -e 'for (1..10000) { open F, ">old/$ARGV[0].$_"; print F "$_\n"; close F }' $D`,
		"10000 in 100": `D=$(date +%s%N); perl -e '$t=$ARGV[0]; mkdir $t; for $d (1..100) { mkdir "$t/$d"; for (1..100) { open F, ">$t/$d/$_"; print F "$_\n"; close F } }' $D`,
		"go build":     `cd g && go build -o /tmp/x .`, // with a warm cache, from the second time on
		"2 GB":         `head -c 2000000000 /dev/zero > l.$(date +%s%N); find . -maxdepth 1 -name "l.*" -mmin +60 -delete`,
	}
}

// BenchmarkWork runs each on the live files and on a layer.
func BenchmarkWork(b *testing.B) {
	for name, line := range benchWorks() {
		for _, layers := range []bool{false, true} {
			b.Run(name+map[bool]string{false: " live", true: " on a layer"}[layers], func(b *testing.B) {
				a, dir := workshop(b, func(c *settings.Config) { c.Mode, c.Sandbox.Layers = "yolo", layers })
				if err := os.Mkdir(filepath.Join(dir, "old"), 0o755); err != nil {
					b.Fatal(err)
				}
				for name, text := range map[string]string{"go.mod": "module g\n\ngo 1.21\n", "main.go": "package main\n\nimport \"net/http\"\n\nfunc main() { _ = http.ListenAndServe(\"\", nil) }\n"} {
					if err := os.MkdirAll(filepath.Join(dir, "g"), 0o755); err != nil {
						b.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, "g", name), []byte(text), 0o600); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := runCommand(b.Context(), a, line, 110); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if out, err := runCommand(b.Context(), a, line, 110); err != nil || out.ExitCode != 0 {
						b.Fatal(out, err)
					}
				}
			})
		}
	}
}

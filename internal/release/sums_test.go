package release

import (
	"bytes"
	"strings"
	"testing"
)

const sumA = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestSums(t *testing.T) {
	v, err := ParseVersion("v1.2.3-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	sums := Sums{"install.sh": sumA}
	for _, goos := range []string{"linux", "windows"} {
		sums[ArchiveName(v, goos, "arm64")] = sumA
	}
	again, err := ParseSums(sums.Text())
	if err != nil || !bytes.Equal(again.Text(), sums.Text()) {
		t.Fatal(err)
	}
	name, got, err := again.Archive("linux", "arm64")
	if err != nil || name != "toolcrib_1.2.3-rc.1_linux_arm64.tar.gz" || got.Compare(v) != 0 {
		t.Error(name, got, err)
	}
	if name, _, err := again.Archive("windows", "arm64"); err != nil || name != "toolcrib_1.2.3-rc.1_windows_arm64.zip" {
		t.Error(name, err)
	}
	if _, _, err := again.Archive("linux", "amd64"); err == nil {
		t.Error("an archive that is not there")
	}
	again["toolcrib_9.9.9_linux_arm64.tar.gz"] = sumA
	if _, _, err := again.Archive("linux", "arm64"); err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Error(err)
	}
	if _, _, err := (Sums{"toolcrib_new_linux_arm64.tar.gz": sumA}).Archive("linux", "arm64"); err == nil {
		t.Error("a version that is none")
	}
}

func TestSumsRefuse(t *testing.T) {
	for _, text := range []string{
		"", "\n", "x  y\n", sumA + "  a", sumA + " a\n", sumA + "   a\n", strings.ToUpper(sumA) + "  a\n", sumA + "  ../a\n", sumA + "  a/b\n", sumA + "  .a\n",
		sumA + "  -rf\n", sumA + "  a b\n", sumA + "  a\r\n", sumA + "  \n", sumA + "  a\n" + sumA + "  a\n", sumA[:62] + "  a\n", sumA + "  a\\b\n",
	} {
		if sums, err := ParseSums([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, sums)
		}
	}
}

func TestVersions(t *testing.T) {
	order := []string{
		"v0.0.0-20261118043502-5ffd356b717e", "v0.0.0", "v0.1.0-alpha", "v0.1.0-alpha.1", "v0.1.0-alpha.beta", "v0.1.0-beta.2", "v0.1.0-beta.11",
		"v0.1.0-rc.1", "v0.1.0", "v0.1.1-0.20261118043502-5ffd356b717e", "v0.1.1", "v0.2.0", "v0.10.0", "v1.0.0", "v10.0.0",
	}
	for i, a := range order {
		x, err := ParseVersion(a)
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range order {
			y, err := ParseVersion(b)
			if got := x.Compare(y); err != nil || got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s: %d, %v", a, b, got, err)
			}
		}
	}
	x, _ := ParseVersion("v1.0.0+dirty")
	y, _ := ParseVersion("v1.0.0")
	if x.Compare(y) != 0 {
		t.Error("how it was built counts")
	}
	for _, bad := range []string{"", "1.2.3", "v1", "v1.2", "v1.2.3.4", "v01.2.3", "v1.2.x", "v1.2.3-", "v1.2.3-a..b", "v1.2.3-01", "devel", "v1.2.3/..", "v-1.2.3", "v1.2.3 ", "v99999999999999999999.0.0", "v1.2.3_linux", strings.Repeat("v1.2.3-a", 30)} {
		if v, err := ParseVersion(bad); err == nil {
			t.Errorf("%q is %v", bad, v)
		}
	}
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte(sumA + "  a\n" + sumA + "  toolcrib_1.2.3_linux_amd64.tar.gz\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := ParseSums(text)
		if err != nil {
			return
		}
		for name := range sums {
			if strings.ContainsAny(name, "/\\: \x00") || strings.HasPrefix(name, ".") {
				t.Errorf("%q", name)
			}
		}
		if again, err := ParseSums(sums.Text()); err != nil || len(again) != len(sums) {
			t.Error(err)
		}
		_, _, _ = sums.Archive("linux", "amd64")
	})
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"v1.2.3", "v1.2.3-rc.1+x", "v0.0.0-20261118043502-5ffd356b717e"} {
		f.Add(s, "v1.0.0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, errA := ParseVersion(a)
		y, errB := ParseVersion(b)
		if errA != nil || errB != nil {
			return
		}
		if x.Compare(y) != -y.Compare(x) || a == b && x.Compare(y) != 0 {
			t.Errorf("%q and %q", a, b)
		}
	})
}

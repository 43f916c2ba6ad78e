package shellguard

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestHomesElsewhere: a home is one wherever it lies, and what it lies in.
func TestHomesElsewhere(t *testing.T) {
	accounts := "root:x:0:0::/root:/bin/sh\n# comment:x:1:1::/opt/comment:/bin/sh\npostgres:x:5:5::/var/lib/postgresql:/bin/sh\nnobody:x:9:9::/nonexistent:/bin/false\n" +
		"bin:x:2:2::/bin:/bin/false\ntmp:x:3:3::/tmp:/bin/false\nbuild:x:4:4::/tmp/build:/bin/sh\nrelative:x:6:6::home:/bin/sh\nshort:x\n"
	opt := optionsOn(shelltest.NewMachine())
	opt.Homes = homesIn(accounts, "/data/people/ann", work)
	for _, line := range []string{
		"rm -rf /data/people/ann", "rm -rf /data/people/ann/*", "rm -rf /data/people", "rm -rf /data", "cd /data/people && rm -rf ann", "cd /data/people/ann; rm -rf *", "find /data/people/ann -delete",
		"find /data/people/ann -type f -exec cp /dev/null {} +", "chmod -R 777 /data/people/ann", "mv /data/people/ann /tmp", "rm -rf /var/lib/postgresql", "cd /var/lib && rm -rf postgresql/*",
		"docker run -v /data/people/ann:/h alpine rm -rf /h", "git clean -fdx /data/people/ann", "python3 -c \"import shutil; shutil.rmtree('/data/people/ann')\"", "rm -rf /data/people/ann/Documents", "CDPATH=/data cd people && rm -rf ann",
	} {
		if len(Floor(line, opt)) == 0 {
			t.Errorf("%q is not on the floor", line)
		}
	}
	for _, line := range []string{"rm -rf /data/people/ann/proj/build", "rm -rf build", "rm -rf /opt/comment/x", "rm -rf /tmp/build", "find . -name '*.o' -delete", "rm -rf /data2", "rm -rf /database"} {
		if why := Floor(line, opt); len(why) > 0 {
			t.Errorf("%q is on the floor: %v", line, why)
		}
	}
	if got := homesIn("", work, work); slices.Contains(got, work) {
		t.Errorf("the project itself is a home: %v", got)
	}
	if got := homesIn("", "", work); len(got) > 0 {
		t.Errorf("without a home and accounts there are %v", got)
	}
}

// FuzzBuiltCode: code in any shape is read to the end.
func FuzzBuiltCode(f *testing.F) {
	for _, code := range []string{`x='/'; system(f'rm -rf {x}')`, `"a".replace("a","b")`, `$x="/"; system("rm -rf $x")`, "`${d}`", `"\`, `{`, `x = "`, `'a'.concat('b')[::-1]`} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 2000 {
			return
		}
		withReplaced(withStrings(code, setStrings(code)))
		Floor("python3 -c "+code, optionsOn(shelltest.NewMachine()))
	})
}

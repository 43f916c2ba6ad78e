package secrets

import (
	"strings"
	"testing"
)

// TestPrograms: passwords that programs are told behind flags of their own, in
// lines of settings without a sign, in notes, and as bytes.
func TestPrograms(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"schtasks /create /tn x /ru bob /rp %s", "plink -pw %s bob@h", "winrs -r:h -u:bob -p:%s cmd", "openssl rsa -in k -passin pass:%s", "ldapsearch -D cn=a -w %s -b x", "ipmitool -H h -U bob -P %s power", "xfreerdp /u:bob /p:%s /v:h", "rdesktop -u bob -p %s h",
		"mysqladmin -u root password %s", "smbclient //h/s -U bob%%s", "lftp -u bob,%s ftp://h", "rabbitmqctl add_user bob %s", "echo %s | sudo -S ls", "redis-cli -a %s", "bob:%s@tcp(h:3306)/d", "DSN=bob:%s@tcp(localhost:3306)/db",
		"bindpw %s", "rootpw %s\n", "enable password %s", "requirepass %s", "Admin password: %s\n", "# wifi password: %s", "<Pass encoding=\"base64\">%s</Pass>", `password := []byte("%s")`, `password = bytes('%s', 'utf8')`, `password: Buffer.from('%s')`, `char password[] = {"%s"};`, `pw = new String("%s")`, "pass phrase: %s", "mot de passe : %s",
	} {
		for _, value := range []string{"hunter2x", "S3cr3tPw", "zq8vtk31"} {
			if whole := strings.ReplaceAll(text, "%s", value); strings.Contains(s.Strike(whole, nil), value) {
				t.Errorf("%q: it is still there", whole)
			}
		}
	}
	if text := "Authorization: Basic Zm9vOmLDpHI6w6k="; strings.Contains(s.Strike(text, nil), "Zm9v") {
		t.Errorf("%q: it is still there", text)
	}
	for _, text := range []string{
		"plink -batch bob@h", "openssl rsa -in key.pem -out x", "ldapsearch -x -b dc=x", "smbclient -L h", "lftp ftp://h", "echo done | sudo tee /etc/x", "rabbitmqctl add_user bob ${PASS}", "redis-cli -a $REDISCLI_AUTH", "user:password@tcp(host)/db", "password policy", "password reset\n", "password strength meter", "password = password.encode(\"utf-8\")", "password := []byte(\"passphrase\")",
		"the password: see below\n", "Forgot password: click here", `"Authorization: basic " + base64.StdEncoding.EncodeToString(x)`, "mysqladmin -u root password", "a@tcp(", ":@tcp(x", "| sudo -s",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

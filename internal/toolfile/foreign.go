package toolfile

// Foreign is what a file may not say that is not the person's own, but a project's that was trusted: trust is no way out of
// the sandbox. What runs for one call can be given a secret that vault.grants names; a process that stays cannot.
func Foreign(f File) []Fault {
	var faults []Fault
	refuse := func(key, message string) {
		faults = append(faults, Fault{File: f.Path, Line: f.Lines[key], Key: key, Message: message})
	}
	if f.Sandbox == "host" {
		refuse("sandbox", "host is for tools of your own folder: a project's run in a sandbox")
	}
	if len(f.Secrets) > 0 && (f.Kind == Python || f.Kind == Node) {
		refuse("secrets", "files of functions of a project are given none: put a copy into your own folder, or make it a script")
	}
	return faults
}

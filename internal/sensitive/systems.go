package sensitive

// PlacesOf are the places of one system, by Go's name for it, that hold keys of a
// person or are run at log-in and by every shell: nobody reads or writes them.
func PlacesOf(goos string) []string {
	switch goos {
	case "darwin":
		return []string{
			"~/Library/Keychains", "/Library/Keychains", "~/Library/LaunchAgents", "/Library/LaunchAgents", "/Library/LaunchDaemons", "/Library/StartupItems",
			"~/Library/Application Support/Google/Chrome", "~/Library/Application Support/Chromium", "~/Library/Application Support/Microsoft Edge",
			"~/Library/Application Support/BraveSoftware", "~/Library/Application Support/Firefox", "~/Library/Safari", "~/Library/Cookies",
			"~/Library/Containers/com.apple.Safari", "~/Library/Group Containers/group.com.apple.notes", "~/.config/powershell",
		}
	case "windows":
		return []string{
			"~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup", "C:/ProgramData/Microsoft/Windows/Start Menu/Programs/Startup",
			"~/Documents/PowerShell", "~/Documents/WindowsPowerShell", "~/OneDrive/Documents/PowerShell", "~/OneDrive/Documents/WindowsPowerShell",
			"~/AppData/Roaming/Microsoft/Credentials", "~/AppData/Local/Microsoft/Credentials", "~/AppData/Roaming/Microsoft/Protect", "~/AppData/Local/Microsoft/Vault",
			"~/AppData/Roaming/Microsoft/Crypto", "~/AppData/Roaming/Microsoft/SystemCertificates",
			"~/AppData/Local/Google/Chrome/User Data", "~/AppData/Local/Chromium/User Data", "~/AppData/Local/Microsoft/Edge/User Data",
			"~/AppData/Local/BraveSoftware", "~/AppData/Roaming/Mozilla/Firefox", "~/AppData/Roaming/gcloud", "~/AppData/Roaming/GitHub CLI",
		}
	}
	return nil
}

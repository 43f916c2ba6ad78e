package settings

// Starter is the file that a person begins with: the few settings that one changes first,
// commented out. A test makes sure that each of them would be taken.
const Starter = `# Settings of Toolcrib. Everything here is commented out and as it comes: take the # away
# to change something. 'toolcrib config check' says what is wrong, 'toolcrib config show'
# shows what holds, and docs/config.md explains every setting.

# When you are asked: default (before anything is changed), auto-edit (files in the
# project may be edited unasked), plan (nothing may be changed), yolo (never).
#mode: default

# What may always be done, what you are always asked, and what is never done.
#permissions:
#  allow:
#    - run_command(go test *)
#  ask:
#    - delete_file
#  deny:
#    - read_file(~/.ssh/**)

# Whether agents may run commands. They run in a sandbox.
#toolboxes:
#  shell:
#    allow_shell: false

# Directories and hosts that tools may reach beside the project.
#grant:
#  read:
#    - ~/Documents/manuals
#  hosts:
#    - example.com

# How long a tool may take.
#limits:
#  timeout: 2m

# MCP servers are added by 'toolcrib hub add' and 'toolcrib hub import'.
`

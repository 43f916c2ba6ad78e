package settings

// SkillBox sets up toolbox/skill.
type SkillBox struct {
	Enabled bool     `yaml:"enabled" project:"off" doc:"Offer this box, where there are skills."`
	Paths   []string `yaml:"paths" doc:"Further skills, which come before all others: directories that are skills or hold some, and single files such as notes/SKILL.md, of which nothing beside the file is read. A relative one begins in the working directory, ~ is your home."`
	User    bool     `yaml:"user" project:"off" doc:"Look for your own skills, in .agents/skills, .agent/skills, .claude/skills and .agenticx/skills of your home directory."`
	Project bool     `yaml:"project" doc:"Look for skills of the project, in .agents/skills, .agent/skills and .claude/skills of the working directory and of those above it, up to the root of its repository. Of two skills of one name, that of the project counts: switch this on for projects whose authors you trust."`
	Allowed string   `yaml:"allowed_tools" enum:"ask,strict" doc:"What happens while a session follows a skill that names the tools it needs (allowed-tools), and another tool is called. ask: a person is asked, with the name of the skill. strict: it is refused. What a skill names is never allowed by that."`
	Hide    []string `yaml:"hide" layers:"join" project:"add" entries:"names" doc:"Names of skills that do not exist for anyone."`
}

// DefaultSkillBox is the box of a fresh machine.
func DefaultSkillBox() SkillBox { return SkillBox{Enabled: true, User: true, Allowed: "ask"} }

// .teamcity/settings.kts: the build's steps and artifacts. jelly reports its tests itself.
import jetbrains.buildServer.configs.kotlin.*
import jetbrains.buildServer.configs.kotlin.buildSteps.script

version = "2024.12"

project {
    buildType {
        id("Mcp")
        name = "MCP servers"
        artifactRules = "reports => reports"
        vcs { root(DslContext.settingsRoot) }
        steps {
            script { scriptContent = "npm install --prefix .jelly-bin --no-audit --no-fund jelly-mcp" }
            script { scriptContent = ".jelly-bin/node_modules/.bin/jelly run" }
        }
    }
}

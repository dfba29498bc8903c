// A plugin for opencode: a large result of a tool is stored, and its entry replaces it.
// Copy it to ~/.config/opencode/plugin/hippocampus.js; recall comes from the MCP server.
import { spawnSync } from "node:child_process";

const ARGUMENTS = ["hook", "--state-dir", `${process.env.HOME}/.hippocampus`];

export const Hippocampus = async () => ({
  "tool.execute.after": async (input, output) => {
    const event = {
      hook_event_name: "PostToolUse",
      session_id: input.sessionID,
      tool_use_id: input.callID,
      tool_name: input.tool,
      tool_input: input.args ?? {},
      tool_response: output.output,
    };
    const hook = spawnSync("hippocampus", ARGUMENTS, { input: JSON.stringify(event), timeout: 30_000 });
    if (hook.status === 0 && hook.stdout.length) {
      output.output = JSON.parse(hook.stdout).hookSpecificOutput.updatedToolOutput;
    }
  },
});

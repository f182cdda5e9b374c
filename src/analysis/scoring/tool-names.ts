// Tells what an agent's tool does (shell, network, reading, …) by its name.

const NAMES = {
  shell: `bash shell shell_command exec_command run_shell_command local_shell exec run_terminal_cmd
    run_terminal_command run_terminal_command_v2 run_command run_commands execute execute_command powershell terminal
    developer__shell`,
  network: `webfetch websearch web_fetch web_search google_web_search fetch web_search_call fetchurl fetch_web_content
    read_web_page`,
  /** Returns the text of a file. */
  read: `read read_file read_file_v2 readfile view view_file open_file notebookread grep search_file_content`,
  /** Changes files. */
  edit: `edit write multiedit multi_edit notebookedit apply_patch applypatch patch replace write_file edit_file
    edit_file_v2 editor create create_file str_replace str_replace_editor str_replace_based_edit_tool search_replace`,
}

const KINDS = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.split(/\s+/).map((name) => [name, kind] as const)),
)

/** Whether a tool of this name, in any case, is of the kind. */
export const isTool = (kind: keyof typeof NAMES, name: string): boolean =>
  KINDS.get(name.toLowerCase()) === kind

import type { CliCommand } from '../command/cli-command.ts'
import { integer } from '../command/option-parsers.ts'

/** `pr`: the risk and the cost of a pull request, in a job of CI or by hand. */
export function addPullRequest(program: CliCommand): void {
  program
    .add('pr', 'send a pull request, and show its risk, its sessions and what they cost as Markdown')
    .server()
    .option('--base <commit>', 'what it is to be merged into (by hand; in CI the job says it)')
    .option('--head <commit>', 'its last commit (HEAD)')
    .option('--number <n>', 'its number', integer(1, 2_147_483_647))
    .option('--title <text>', 'its title (the subject of its last commit)')
    .option('--repo <owner/name>', 'its repository (that of the remote origin)')
    .choice('--fail-on <rating>', 'exit with 1 from this rating on', ['high', 'critical'])
    .option('--comment', 'put it on the pull request: one comment, which later runs replace')
    .notes(`In a job of GitHub Actions (pull_request) or GitLab CI (merge request) nothing but the server and a key is needed; the key needs
the scopes risk:write and risk:read. All of the history must be there: fetch-depth: 0, GIT_DEPTH: 0. --comment needs GITHUB_TOKEN
with pull-requests: write, or GITLAB_TOKEN with the scope api.`)
    .examples(
      'pr --fail-on critical --comment                    (in CI)',
      "pr --base main --number 128 --title 'Refund twice'",
    )
    .load(async () => (await import('./pr.ts')).pullRequest)
}

import type { ApprovalRequest } from '../../../../machines/channels/approval-notice.ts';
import type { Log } from '../../../ports/log.ts';
import type { ApproverAddresses } from '../../channel-adapter.ts';
import type { PeopleByEmail } from '../link/people-by-email.ts';

export interface MentionsOptions {
  people: Pick<PeopleByEmail, 'idOf'>;
  /** Returns the people whom approver entries name now. */
  addressesOf: (entries: readonly string[]) => ApproverAddresses;
  log: Log;
}

/** Maximum people and groups that one message mentions. */
const most = 20;

/** Writes the mentions of the approvers of a call. */
export class Mentions {
  readonly #options: MentionsOptions;

  constructor(options: MentionsOptions) {
    this.#options = options;
  }

  /**
   * Returns Slack's markup that mentions the approvers of a call, on one line; `null` if the rule asks for none. A
   * person who cannot be found is omitted, because the message must not wait for that. Never rejects.
   */
  async of({ mention, approvers, taskId }: ApprovalRequest): Promise<string | null> {
    if (mention !== true || approvers === null) return null;
    const { people, addressesOf, log } = this.#options;
    const { emails, slackGroups } = addressesOf(approvers);
    const groups = slackGroups.slice(0, most).map((id) => `<!subteam^${id}>`);
    const found = await Promise.allSettled(
      emails.slice(0, most - groups.length).map((email) => people.idOf(email)),
    );
    const missing = found.filter(({ status }) => status === 'rejected').length;
    if (missing > 0) {
      log.warn({ task_id: taskId, missing }, 'slack: some approvers could not be mentioned');
    }
    const ids = found.flatMap((one) => (one.status === 'fulfilled' ? [`<@${one.value}>`] : []));
    const mentions = [...groups, ...new Set(ids)];
    return mentions.length === 0 ? null : mentions.join(' ');
  }
}

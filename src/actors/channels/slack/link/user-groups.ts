import type { WebClient } from '@slack/web-api';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { late, within } from '../../time-limit.ts';
import type { SlackSelf } from './slack-envelope.ts';
import { linkFault, slackCode } from './slack-failure.ts';
import { readSelf } from './slack-self.ts';
import { UserDirectory } from './user-directory.ts';

export interface UserGroupsOptions {
  web: Pick<WebClient, 'auth' | 'usergroups' | 'users'>;
  clock: Clock;
  /** The app's identity in Slack; looked up while it is `null`. */
  self: () => SlackSelf | null;
  log: Log;
}

/** Maximum time of a look-up in milliseconds; a person waits for the answer to a click. */
const patience = 5_000;

/** Reads the members of Slack user groups; nothing is cached. */
export class UserGroups {
  readonly #options: UserGroupsOptions;
  readonly #noted = new Set<string>();

  constructor(options: UserGroupsOptions) {
    this.#options = options;
  }

  /**
   * Returns the emails of a group's members: those that Slack verifies, of active people of this workspace. An unknown
   * group has none. Rejects if one of the members cannot be looked up.
   */
  async members(id: string): Promise<string[]> {
    const { clock } = this.#options;
    try {
      const members = await within(clock, patience, this.#read(id));
      if (members !== late) return members;
    } catch (error) {
      if (slackCode(error) !== 'no_such_subteam') {
        this.#note(id, linkFault(error).message);
        throw error;
      }
      this.#note(id, 'Slack has no user group of this id; correct it in people.yaml');
      return [];
    }
    this.#note(id, 'Slack did not answer in time');
    throw new Error(`slack: the members of ${id} were not read in time`);
  }

  async #read(id: string): Promise<string[]> {
    const { web, clock, log, self } = this.#options;
    const own = self() ?? (await readSelf(web));
    const { users = [] } = await web.usergroups.users.list({ usergroup: id });
    // Without cached people, a deactivated member ends with this look-up.
    const people = new UserDirectory({ web, clock, self: () => own, log });
    const emails = await Promise.all(users.map((user) => emailOf(people, user)));
    return emails.filter((email) => email !== null);
  }

  #note(id: string, reason: string): void {
    const words = `slack: the members of the user group ${id} cannot be checked: ${reason}`;
    if (this.#noted.has(words)) return;
    this.#noted.add(words);
    this.#options.log.warn({}, words);
  }
}

async function emailOf(people: UserDirectory, user: string): Promise<string | null> {
  try {
    return (await people.find(user)).email;
  } catch (error) {
    if (slackCode(error) === 'user_not_found') return null;
    throw error;
  }
}

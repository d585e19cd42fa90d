import { WebClient } from '@slack/web-api';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cleanUp, firstLine, holdpoint, startCommand } from '../holdpoint.ts';

afterAll(cleanUp);

describe.concurrent('slack manifest', () => {
  it('prints the app as YAML, and names settings that a manifest cannot contain', async () => {
    const { code, stdout, stderr } = await holdpoint(['slack', 'manifest']);
    expect(code).toBe(0);
    expect(parse(stdout)).toEqual({
      _metadata: { major_version: 1, minor_version: 1 },
      display_information: {
        name: 'Holdpoint',
        description: 'Asks people to release the tool calls of an agent.',
        background_color: '#1f2937',
      },
      features: {
        app_home: {
          home_tab_enabled: false,
          messages_tab_enabled: true,
          messages_tab_read_only_enabled: false,
        },
        bot_user: { display_name: 'holdpoint', always_online: true },
      },
      oauth_config: {
        scopes: {
          bot: [
            'chat:write',
            'channels:read',
            'groups:read',
            'users:read',
            'users:read.email',
            'app_mentions:read',
            'im:history',
            'reactions:write',
            'files:write',
          ],
        },
      },
      settings: {
        event_subscriptions: { bot_events: ['app_mention', 'message.im', 'user_change'] },
        interactivity: { is_enabled: true },
        org_deploy_enabled: false,
        socket_mode_enabled: true,
        token_rotation_enabled: false,
      },
    });
    expect(stderr).toContain('an app-level token with the scope connections:write');
  });

  it("omits what only conversations need, and names the bot within Slack's rules", async () => {
    const name = 'Refunds & Co';
    const args = ['slack', 'manifest', '--approvals-only', '--name', name, '--json'];
    const { code, stdout } = await holdpoint(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      display_information: { name },
      features: {
        app_home: { messages_tab_read_only_enabled: true },
        bot_user: { display_name: 'refunds-co' },
      },
      oauth_config: {
        scopes: {
          bot: ['chat:write', 'channels:read', 'groups:read', 'users:read', 'users:read.email'],
        },
      },
    });
    expect(JSON.parse(stdout).settings.event_subscriptions).toEqual({
      bot_events: ['user_change'],
    });
  });

  it('refuses a name that Slack refuses', async () => {
    const { code, stdout, stderr } = await holdpoint([
      'slack',
      'manifest',
      '--name',
      'n'.repeat(36),
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'error: --name must have 1 to 35 characters; Slack allows no longer name for an app\n',
    );
  });
});

describe.concurrent('slack fake', () => {
  it('runs until it is stopped, and shows the messages', async () => {
    const running = startCommand(['slack', 'fake', '--json']);
    const { api_url, bot_token } = JSON.parse(await firstLine(running));
    const web = new WebClient(bot_token, { slackApiUrl: api_url });
    expect(await web.auth.test()).toMatchObject({ ok: true, team_id: 'T0HOLDPNT1' });
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  });

  it('explains how to connect an agent to it, and draws messages', async () => {
    const running = startCommand(['slack', 'fake']);
    const token = (await firstLine(running)).replace('export SLACK_BOT_TOKEN=', '');
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(token).toMatch(/^xoxb-fake-/);
    expect(stdout).toMatch(
      /^# slack-config\.yaml: \{adapter: slack, settings: \{api_url: "http:\/\/127\.0\.0\.1:\d+\/api\/"\}\}$/m,
    );
  });

  it('refuses a port that is taken', async () => {
    const running = startCommand(['slack', 'fake', '--json']);
    const { api_url } = JSON.parse(await firstLine(running));
    const { code, stderr } = await holdpoint(['slack', 'fake', '--port', new URL(api_url).port]);
    running.child.kill('SIGTERM');
    await running.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the fake Slack cannot listen on port \d+: .*EADDRINUSE/);
  });
});

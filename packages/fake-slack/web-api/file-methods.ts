import { isJsonObject, type JsonObject } from '../../../src/machines/json.ts';
import type { FakeFile } from '../workspace/workspace.ts';
import { type Method, type MethodContext, text, writableChannel } from './method.ts';
import { SlackRefusal } from './slack-refusal.ts';

/** The three steps of an upload. The second step is not an API method. */
export const fileMethods: Record<string, Method> = {
  'files.getUploadURLExternal': { token: 'bot', scopes: ['files:write'], answer: begin },
  'files.completeUploadExternal': { token: 'bot', scopes: ['files:write'], answer: complete },
};

function begin(args: JsonObject, { workspace, uploadUrl }: MethodContext): JsonObject {
  const name = text(args, 'filename');
  if (name === '' || Number(args['length'] ?? 0) < 1) throw new SlackRefusal('invalid_arguments');
  const id = `F0FILE${String(workspace.files.length + 1).padStart(4, '0')}`;
  workspace.files.push({ id, name, content: null });
  return { upload_url: uploadUrl(id), file_id: id };
}

function complete(args: JsonObject, context: MethodContext): JsonObject {
  const { workspace } = context;
  const files = filesOf(args, workspace.files);
  if (text(args, 'channel_id') !== '') {
    const channel = writableChannel(context, { channel: text(args, 'channel_id') });
    workspace.say({
      channel: channel.id,
      user: workspace.botUserId,
      text: text(args, 'initial_comment'),
      threadTs: text(args, 'thread_ts') || null,
      files,
    });
  }
  return { files: files.map(({ id, name }) => ({ id, title: name })) };
}

function filesOf(args: JsonObject, known: readonly FakeFile[]): FakeFile[] {
  const asked = Array.isArray(args['files']) ? args['files'] : [];
  const files = asked.map((entry) => {
    const id = isJsonObject(entry) ? entry['id'] : undefined;
    const file = known.find((each) => each.id === id && each.content !== null);
    if (file === undefined) throw new SlackRefusal('file_not_found');
    return file;
  });
  if (files.length === 0) throw new SlackRefusal('invalid_arguments');
  return files;
}

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { firstLine, type Running, startProcess } from '../cli/holdpoint.ts';
import { root, runCommand } from '../tooling/run-command.ts';

/** The settings of an image that a node uses. */
interface ImageSettings {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck: { Test: string[] };
}

/** A container of a pod, as far as it is started here. */
export interface Container {
  command?: string[];
  args?: string[];
  volumeMounts: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  readinessProbe: { httpGet: { httpHeaders: { value: string }[] } };
}

/** The containers of a pod. */
interface Pod {
  initContainers: [Container];
  containers: [Container];
}

/** A pod whose daemon answers. */
export interface StartedPod {
  run: Running;
  url: string;
  /** The process id of the first process, which a node sends its signals to. */
  init: number;
  /** The folder of the daemon's state on this machine. */
  state: string;
}

/** Returns the pod of the workload in a manifest. */
export function podIn(file: string): Pod {
  const all = parseAllDocuments(readFileSync(join(root, file), 'utf8')).map((one) => one.toJS());
  return all.find(({ spec }) => spec?.template !== undefined).spec.template.spec as Pod;
}

/** Returns the process ids of the children of a process. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The files of an image on this machine, in which containers of pods start as on a node. */
export class UnpackedImage {
  readonly files: string;
  readonly settings: ImageSettings;
  readonly #folder: string;

  /** The folder is that of `npm run image -- --unpack`. */
  constructor(folder: string) {
    this.#folder = folder;
    this.files = join(folder, 'files');
    const { Docker } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    this.settings = Docker.config as ImageSettings;
  }

  /** Makes volumes as the kubelet does: they belong to root, and to the group of the pod. */
  async makeVolumes(...names: string[]): Promise<string> {
    const volumes = mkdtempSync(join(this.#folder, 'volumes-'));
    const paths = names.map((name) => join(volumes, name));
    for (const path of paths) mkdirSync(path);
    expect((await runCommand('chmod', ['a+rx', this.#folder, volumes])).status).toBe(0);
    expect((await runCommand('chown', ['root:10001', ...paths])).status).toBe(0);
    expect((await runCommand('chmod', ['2777', ...paths])).status).toBe(0);
    return volumes;
  }

  /** Starts a container over a read-only root, with the volumes of its pod and without any privilege. */
  startContainer(
    container: Container,
    { volumes, words = [], env = [] }: { volumes: string; words?: string[]; env?: string[] },
  ): Running {
    const { command = this.settings.Entrypoint, args = [] } = container;
    const script = this.#startScript(container, volumes);
    const run = startProcess('unshare', [
      ...['--mount', '--pid', '--fork', 'sh', '-c', script, 'start'],
      ...[...this.settings.Env, ...env, ...command, ...args, ...words],
    ]);
    onTestFinished(async () => {
      if (run.child.exitCode !== null) return;
      for (const pid of childrenOf(run.child.pid ?? 0)) process.kill(pid, 'SIGKILL');
      await run.ended;
    });
    return run;
  }

  /** Starts the containers of the agent's pod one after the other, over a folder in its ConfigMap. */
  async startAgent(code: Record<string, string>, env: string[]): Promise<StartedPod> {
    const { initContainers, containers } = podIn('deploy/kubernetes/daemon.yaml');
    const volumes = await this.makeVolumes('config', 'agent', 'state', 'tmp');
    await this.packFolder(code, volumes);
    const copied = await this.startContainer(initContainers[0], { volumes }).ended;
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    const words = ['--port', '0', '--json'];
    const run = this.startContainer(containers[0], { volumes, words, env });
    const { url } = JSON.parse(await firstLine(run)) as { url: string };
    const [init = 0] = childrenOf(run.child.pid ?? 0);
    const state = join(volumes, 'state/service');
    return { run, state, url: url.replace('0.0.0.0', '127.0.0.1'), init };
  }

  /** Packs a folder of an agent into the volume of its ConfigMap. */
  async packFolder(code: Record<string, string>, volumes: string): Promise<void> {
    const folder = mkdtempSync(join(this.#folder, 'agent-'));
    mkdirSync(join(folder, 'scripts'));
    for (const [path, text] of Object.entries(code)) writeFileSync(join(folder, path), text);
    const archive = join(volumes, 'config/agent.tar.gz');
    expect((await runCommand('tar', ['-czf', archive, '-C', folder, '.'])).status).toBe(0);
  }

  #startScript({ volumeMounts }: Container, volumes: string): string {
    const { files } = this;
    const binds = volumeMounts.flatMap(({ name, mountPath, subPath = '', readOnly }) => [
      `mount --bind "${join(volumes, name, subPath)}" "${files}${mountPath}"`,
      ...(readOnly === true ? [`mount -o remount,ro,bind "${files}${mountPath}"`] : []),
    ]);
    const [user, group] = this.settings.User.split(':');
    const rights = `--reuid=${user} --regid=${group} --groups=${group} --no-new-privs`;
    return `set -eu
mount --make-rprivate /
mount --bind "${files}" "${files}"
mkdir -p "${files}/agents" "${files}/config" "${files}/folder" "${files}/state"
mount -o remount,ro,bind "${files}"
mount -t proc proc "${files}/proc"
mount --rbind /dev "${files}/dev"
${binds.join('\n')}
exec chroot "${files}" setpriv ${rights} --bounding-set=-all --inh-caps=-all env -i "$@"
`;
  }
}

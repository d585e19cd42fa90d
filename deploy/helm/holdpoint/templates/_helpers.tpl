{{- define "holdpoint.labels" -}}
app.kubernetes.io/name: holdpoint
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "holdpoint.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end }}
{{- end }}
{{- end }}

{{- define "holdpoint.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* What every pod has: no right in the cluster, no variable of other services, no right on its node. */ -}}
{{- define "holdpoint.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* The variables of the daemon: one for each key of the Secret, and those without secrets. */ -}}
{{- define "holdpoint.env" -}}
{{- range .Values.secret.keys }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ $.Values.secret.name }}, key: {{ . }}}}
{{- end }}
{{- range $name, $value := .Values.daemon.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- /* Whether the folder comes from a ConfigMap; otherwise the image has it. */ -}}
{{- define "holdpoint.isMounted" -}}
{{- if or .Values.agent.files .Values.agent.existingConfigMap }}true{{ end }}
{{- end }}

{{- /* A key of a ConfigMap has no slash. */ -}}
{{- define "holdpoint.key" -}}
{{ . | replace "/" "__" }}
{{- end }}

{{- define "holdpoint.files" -}}
{{- range $path, $text := .Values.agent.files }}
{{ toYaml (dict (include "holdpoint.key" $path) $text) }}
{{- end }}
{{- end }}

{{- /* Copies the folder out of its ConfigMap, and makes the folders of the state under the daemon's user. */ -}}
{{- define "holdpoint.folder" -}}
- name: folder
  image: {{ include "holdpoint.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command:
    - sh
    - -euc
    - |
      mkdir -p -m 0700 /state/service{{ range .Values.agent.writable }} /state/writable/{{ . }}{{ end }}
      {{- if include "holdpoint.isMounted" . }}
      rm -rf /folder/agent
      mkdir -p /folder/agent/.service{{ range .Values.agent.writable }} /folder/agent/{{ . }}{{ end }}
      if [ -f /config/agent.tar.gz ]; then tar -xzf /config/agent.tar.gz -C /folder/agent --no-same-owner
      else cp -RL /config/* /folder/agent/; fi
      {{- end }}
  securityContext:
    {{- include "holdpoint.confined" . | nindent 4 }}
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: state, mountPath: /state}
    {{- if include "holdpoint.isMounted" . }}
    - {name: config, mountPath: /config, readOnly: true}
    - {name: agent, mountPath: /folder}
    {{- end }}
{{- end }}

{{- /* The folder, which nothing in the daemon's container can change, and its state. */ -}}
{{- define "holdpoint.mounts" -}}
{{- if include "holdpoint.isMounted" . }}
- {name: agent, mountPath: /agent, subPath: agent, readOnly: true}
{{- end }}
- {name: state, mountPath: /agent/.service, subPath: service}
{{- range .Values.agent.writable }}
- {name: state, mountPath: /agent/{{ . }}, subPath: writable/{{ . }}}
{{- end }}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "holdpoint.volumes" -}}
{{- if .Values.agent.existingConfigMap }}
- name: config
  configMap: {name: {{ .Values.agent.existingConfigMap }}}
{{- else if .Values.agent.files }}
- name: config
  configMap:
    name: {{ .configMap }}
    items:
      {{- range $path, $text := .Values.agent.files }}
      - {key: {{ include "holdpoint.key" $path }}, path: {{ $path | quote }}}
      {{- end }}
{{- end }}
{{- if include "holdpoint.isMounted" . }}
- name: agent
  emptyDir: {sizeLimit: 64Mi}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: 1Gi}
{{- end }}

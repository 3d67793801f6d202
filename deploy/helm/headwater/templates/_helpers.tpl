{{- define "headwater.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "headwater.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "headwater.labels" -}}
{{ include "headwater.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "headwater.claim" -}}
{{ .Values.volume.existingClaim | default (printf "%s-data" (include "headwater.name" .)) }}
{{- end }}

{{/* What both pods have in common; the caller adds containers. */}}
{{- define "headwater.pod" -}}
serviceAccountName: {{ .Values.serviceAccountName }}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  # All that is written beside the lake.
  - name: scratch
    emptyDir: {}
  {{- if .Values.volume.enabled }}
  - name: data
    persistentVolumeClaim: {claimName: {{ include "headwater.claim" . }}}
  {{- end }}
  {{- with .Values.secretFiles }}
  - name: files
    secret: {secretName: {{ . }}}
  {{- end }}
{{- end }}

{{/* What both containers have in common; the caller adds name, arguments and resources. */}}
{{- define "headwater.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  readOnlyRootFilesystem: true
{{- with .Values.secretEnv }}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
volumeMounts:
  - {name: scratch, mountPath: /tmp, subPath: tmp}
  - {name: scratch, mountPath: /home/headwater, subPath: home}
  - {name: scratch, mountPath: /opt/headwater/target, subPath: target}
  - {name: scratch, mountPath: /opt/headwater/logs, subPath: logs}
  # The embedded catalog of a lake in a bucket, which may be lost.
  - {name: scratch, mountPath: /opt/headwater/.local, subPath: local}
  {{- if .Values.volume.enabled }}
  - {name: data, mountPath: /data}
  {{- end }}
  {{- if .Values.secretFiles }}
  - {name: files, mountPath: /etc/headwater, readOnly: true}
  {{- end }}
env:
  - {name: HEADWATER_LAKE, value: {{ .Values.lake | quote }}}
  - {name: HEADWATER_LANDING, value: {{ .Values.landing | quote }}}
  - {name: HEADWATER_DRIVER_MEMORY, value: {{ .Values.driverMemory | quote }}}
  {{- range $name, $value := .Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- end }}

import { alnum, uuid } from './made-up.ts'

const password = alnum(20, 'password')
const key = alnum(40, 'key')
const basic = Buffer.from(`deploy:${password}`).toString('base64')
const body = `${alnum(64, 'k1')}\n${alnum(64, 'k2')}\n${alnum(64, 'k3')}`
const pem = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n-----END ${kind}PRIVATE KEY-----`
const session = `IQoJb3JpZ2lu${alnum(30, 's1')}//////////${alnum(300, 's2')}=`
const ofAws = `${alnum(20, 'aws')}/${alnum(19, 'aws2')}`

/** Forms in which files and command lines hold secrets that have no form of their own: a text, and the secret in it. */
export const FILES: Readonly<Record<string, { text: string; secret: string }>> = {
  '.env': { text: `PORT=80\nSESSION_SECRET=${key}\n`, secret: key },
  '.env with export and quotes': { text: `export STRIPE_API_KEY="${key}"\n`, secret: key },
  '.env of a password': { text: `DB_PASSWORD=${password}\n`, secret: password },
  YAML: { text: `service:\n  api_key: ${key}\n`, secret: key },
  'YAML with quotes': { text: `db:\n  password: '${password}'\n`, secret: password },
  JSON: { text: `{\n  "clientSecret": "${key}"\n}\n`, secret: key },
  TOML: { text: `[api]\nauth_token = "${key}"\n`, secret: key },
  INI: { text: `[server]\npassword = ${password}\n`, secret: password },
  'Java properties': { text: `spring.datasource.password=${password}\n`, secret: password },
  '.npmrc token': { text: `//npm.acme.dev/:_authToken=${uuid('npmrc')}\n`, secret: uuid('npmrc') },
  '.npmrc login': { text: `//npm.acme.dev/:_auth=${basic}\n`, secret: basic },
  '.npmrc password': { text: `//npm.acme.dev/:_password="${basic}"\n`, secret: basic },
  '.pypirc': {
    text: `[pypi]\nusername = deploy\npassword = ${password}\n`,
    secret: password,
  },
  '.netrc': {
    text: `machine api.acme.dev login deploy password ${password}\n`,
    secret: password,
  },
  '.netrc of several lines': {
    text: `machine api.acme.dev\n  login deploy\n  password ${password}\n`,
    secret: password,
  },
  'Docker config': {
    text: `{\n  "auths": {\n    "registry.acme.dev": {\n      "auth": "${basic}"\n    }\n  }\n}\n`,
    secret: basic,
  },
  'Docker config on one line': {
    text: `{"auths":{"registry.acme.dev":{"username":"deploy","auth":"${basic}"}}}`,
    secret: basic,
  },
  'docker login': { text: `docker login -u deploy -p ${password} registry.acme.dev\n`, secret: password },
  'curl -u': { text: `curl -sS -u deploy:${password} https://api.acme.dev/v1\n`, secret: password },
  'curl --user': { text: `curl --user 'deploy:${password}' https://api.acme.dev/v1\n`, secret: password },
  'curl with a bearer token': {
    text: `curl -H "Authorization: Bearer ${key}" https://api.acme.dev\n`,
    secret: key,
  },
  'curl with a basic login': {
    text: `curl -H 'Authorization: Basic ${basic}' https://api.acme.dev\n`,
    secret: basic,
  },
  'curl with a token': { text: `curl -H "Authorization: token ${key}" https://api.acme.dev\n`, secret: key },
  'curl with a key': { text: `curl -H "X-Api-Key: ${key}" https://api.acme.dev\n`, secret: key },
  '.pgpass': { text: `db.acme.dev:5432:shop:deploy:${password}\n`, secret: password },
  PGPASSWORD: { text: `PGPASSWORD=${password} psql -h db.acme.dev shop\n`, secret: password },
  '.my.cnf': { text: `[client]\nuser=deploy\npassword=${password}\n`, secret: password },
  'AWS credentials': {
    text: `[default]\naws_secret_access_key = ${ofAws}\n`,
    secret: ofAws,
  },
  'AWS session': {
    text: `[default]\naws_session_token = ${session}\n`,
    secret: session,
  },
  'Terraform variables': { text: `db_password = "${password}"\n`, secret: password },
  'Terraform resource': {
    text: `resource "aws_db_instance" "shop" {\n  password             = "${password}"\n}\n`,
    secret: password,
  },
  'kubeconfig token': { text: `users:\n- name: ci\n  user:\n    token: ${key}\n`, secret: key },
  'kubeconfig key': {
    text: `  user:\n    client-key-data: ${Buffer.from(`${pem('RSA ')}\n`).toString('base64')}\n`,
    secret: Buffer.from(`${pem('RSA ')}\n`).toString('base64'),
  },
  'Kubernetes environment': {
    text: `env:\n- name: DB_PASSWORD\n  value: ${password}\n`,
    secret: password,
  },
  'Compose environment': { text: `environment:\n  - API_TOKEN=${key}\n`, secret: key },
  Dockerfile: { text: `FROM debian\nENV API_TOKEN ${key}\n`, secret: key },
  'git credentials': {
    text: `https://deploy:${password}@git.acme.dev\n`,
    secret: `https://deploy:${password}@git.acme.dev`,
  },
  'PostgreSQL address': {
    text: `url: postgresql://deploy:${password}@db.acme.dev:5432/shop\n`,
    secret: `postgresql://deploy:${password}@db.acme.dev:5432/shop`,
  },
  'MongoDB address': {
    text: `url: mongodb+srv://deploy:${password}@db.acme.dev/shop\n`,
    secret: `mongodb+srv://deploy:${password}@db.acme.dev/shop`,
  },
  'AMQP address': {
    text: `url: amqps://deploy:${password}@queue.acme.dev/shop\n`,
    secret: `amqps://deploy:${password}@queue.acme.dev`,
  },
  'Redis address': {
    text: `url: rediss://:${password}@cache.acme.dev:6379/0\n`,
    secret: `rediss://:${password}@cache.acme.dev:6379`,
  },
  'SQL Server connection': {
    text: `"Server=db.acme.dev;Database=shop;User Id=deploy;Password=${password};Encrypt=true"\n`,
    secret: password,
  },
  'JDBC address': {
    text: `url=jdbc:oracle:thin:@db.acme.dev?user=deploy&password=${password}\n`,
    secret: password,
  },
  'private key': { text: `${pem('')}\n`, secret: pem('') },
  'OpenSSH key': { text: `${pem('OPENSSH ')}\n`, secret: pem('OPENSSH ') },
  'Maven settings': {
    text: `<server>\n  <id>acme</id>\n  <password>${password}</password>\n</server>\n`,
    secret: password,
  },
  'NuGet config': {
    text: `<add key="ClearTextPassword" value="${password}" />\n`,
    secret: password,
  },
  'PHP constant': { text: `define('DB_PASSWORD', '${password}');\n`, secret: password },
}

export const access = {
  changed: 'L’accès est modifié.',
  clash: {
    head: 'Quelqu’un d’autre a modifié l’accès',
    lead: 'La page le montre maintenant tel qu’il est. Votre changement s’y ajoutera : rien du sien n’est perdu.',
    action: 'Modifier quand même'
  },
  rights: {
    head: 'Qui peut lire et écrire',
    command: 'La même chose en commande :',
    copy: 'Copier la commande qui montre l’accès'
  },
  reading: {
    public: 'Tout le monde peut lire ce dépôt, sans nom.',
    closed: 'Seuls les lecteurs, les rédacteurs et les admins peuvent lire ce dépôt.',
    untouched: 'Seuls les admins peuvent lire ce dépôt : personne ne l’a encore ouvert.'
  },
  writing: {
    own: () => 'Les rédacteurs listés ici et les admins peuvent écrire.',
    admins: () => 'Seuls les admins peuvent écrire.',
    role: role => `Tout utilisateur ayant le rôle ${role} peut écrire, ici et dans tout autre dépôt de ce serveur qui ne nomme pas de rédacteurs.`
  },
  open: {
    head: 'Ouvrir ce dépôt à tous ?',
    lead: 'Tous ceux qui atteignent ce CouchDB liront toutes les couches, même celles qu’une passerelle garde privées. La liste des lecteurs est vidée. Qui peut écrire ne change pas.',
    action: 'Ouvrir à tous',
    refused: 'Ce dépôt ne peut pas être ouvert : sans fonction de validation, tout le monde pourrait écrire.'
  },
  close: {
    head: 'Fermer ce dépôt ?',
    lead: 'Seuls les lecteurs, les rédacteurs et les admins le liront, avec nom et mot de passe. Les cartes d’autres pages qui lisent ce CouchDB sans nom resteront vides. Une passerelle continue si son utilisateur peut lire. Cette page ne s’ouvrira alors chez CouchDB que dans un navigateur qui y est connecté, par exemple sous /_utils.',
    action: 'Fermer le dépôt'
  },
  groups: {
    user: 'Utilisateur',
    role: 'Rôle',
    kind: 'Quoi',
    name: 'Nom',
    everybody: 'Tout le monde lit.',
    more: number => `Et ${number} de plus.`,
    alsoWriter: 'est rédacteur',
    readers: { name: 'Lecteurs', add: 'Ajouter un lecteur', none: 'Aucun, sauf les admins.', remove: name => `Retirer ${name} des lecteurs` },
    writers: { name: 'Rédacteurs', add: 'Ajouter un rédacteur', none: 'Aucun, sauf les admins.', remove: name => `Retirer ${name} des rédacteurs` },
    admins: { name: 'Admins de ce dépôt', add: 'Ajouter un admin', none: 'Seuls les admins du serveur.', remove: name => `Retirer ${name} des admins` }
  },
  removeAdmin: {
    head: name => `Retirer ${name} des admins ?`,
    lead: 'Les documents de conception, l’accès et les jetons seront fermés à cet admin.',
    self: 'C’est vous : cette page vous sera fermée, et vous ne pourrez pas l’annuler.',
    action: 'Retirer'
  },
  faults: {
    EVERYBODY_IS_ADMIN: () => 'Ce serveur n’a pas d’admin : tout le monde peut tout faire. Donnez-lui un admin maintenant.',
    EVERYBODY_WRITES: () => 'TOUT LE MONDE PEUT ÉCRIRE : tout le monde peut lire, et le dépôt n’a pas de fonction de validation. Lancez : tilecouch push',
    READERS_WRITE: () => 'Tous ceux qui peuvent lire peuvent écrire : le dépôt n’a pas de fonction de validation. Lancez : tilecouch push',
    OTHER_VALIDATION: () => 'La fonction de validation n’est pas celle de tilecouch. Lancez : tilecouch push',
    WRITER_SHUT_OUT: (kind, name) => `${kind === 'names' ? 'L’utilisateur' : 'Le rôle'} ${name} est rédacteur mais pas lecteur : CouchDB ne le laisse pas entrer. Ajoutez-le aux lecteurs.`
  },
  stranger: {
    head: 'Ce que voit un inconnu',
    lead: 'Demandé à l’instant sans nom ni mot de passe. Rien n’a été écrit.',
    again: 'Redemander',
    database: 'La base de données',
    layers: 'Couches',
    map: 'La carte (TileJSON d’une couche)',
    documents: 'Tous les documents',
    designs: 'Documents de conception',
    writes: 'Écriture',
    outcomes: { reads: 'lit', nothing: 'ne voit rien', unknown: 'inconnu' },
    some: (number, all) => `en voit ${number} sur ${all}`,
    mayWrite: 'peut écrire',
    mayNot: 'ne peut pas écrire',
    gateway: 'C’est CouchDB lui-même. Une passerelle (tilecouch serve) lit avec son propre utilisateur : les inconnus y voient toutes les couches qui ne sont pas privées, même si ce dépôt est fermé.',
    throughGateway: 'C’est la passerelle : les inconnus voient toutes les couches qui ne sont pas privées, même si le dépôt est fermé. CouchDB lui-même n’a pas été interrogé.'
  },
  tokens: {
    head: 'Jetons pour couches privées',
    lead: 'Un jeton montre à son porteur des couches privées sur une passerelle (tilecouch serve --private-layers …). Ceux-ci sont dans le dépôt : la passerelle en refuse un dans les deux secondes après sa révocation. Les jetons de la commande tilecouch token ne sont pas listés : ils sont signés et ne sont gardés nulle part.',
    none: 'Pas encore de jetons.',
    name: 'Pour',
    layers: 'Couches',
    until: 'Jusqu’au',
    madeBy: 'Créé',
    by: (user, when) => `${user}, ${when}`,
    state: 'État',
    change: 'Modifier',
    states: { valid: 'valable', expired: 'expiré', revoked: 'révoqué' },
    new: 'Nouveau jeton',
    forWhom: 'Pour qui, ou pour quoi',
    layersHint: 'Noms et motifs, comme survey, draft-* ; * désigne toutes les couches ; avec ! devant, sauf celles-ci.',
    badLayers: 'Écrivez des noms de couches ou des motifs, comme survey, draft-*',
    lasts: 'Valable',
    day: 'un jour',
    days: number => `${number} jours`,
    always: 'sans fin',
    make: 'Créer le jeton',
    once: 'Copiez-le maintenant : le dépôt n’en garde pas de copie, et il ne sera plus montré. Traitez-le comme un mot de passe.',
    token: 'Jeton',
    tiles: 'Adresse des tuiles',
    viewer: 'Adresse de la visionneuse',
    copy: what => `Copier : ${what}`,
    replace: 'Écrivez l’adresse de votre passerelle à la place de maps.example.org. CouchDB lui-même n’accepte pas de jetons.',
    hide: 'Terminé',
    insecure: 'Les jetons ne se créent que sur une page chiffrée (https) ou sur localhost : d’autres pourraient les lire en chemin.',
    revoke: { action: 'Révoquer', of: name => `Révoquer le jeton pour ${name}`, head: name => `Révoquer le jeton pour ${name} ?`, lead: 'Toute adresse qui le contient cesse de marcher en deux secondes. C’est irréversible.' },
    remove: { action: 'Retirer', of: name => `Retirer de la liste le jeton pour ${name}` }
  },
  users: {
    head: 'Utilisateurs',
    lead: 'Utilisateurs de ce CouchDB qui ont ici un droit par leur nom ou par un rôle. Les admins du serveur sont dans sa configuration et ne sont pas listés.',
    embedded: 'Le dépôt intégré a un admin et aucun utilisateur. Pour des utilisateurs, gardez le dépôt dans un CouchDB.',
    none: 'Aucun utilisateur de ce CouchDB n’a de droit ici.',
    name: 'Nom',
    may: 'Peut',
    roles: 'Rôles',
    change: 'Modifier',
    rights: { admins: 'administrer', writers: 'écrire', readers: 'lire' },
    new: 'Nouvel utilisateur',
    make: 'Créer l’utilisateur',
    made: name => `${name} peut maintenant se connecter.`,
    exists: name => `Il y a déjà un utilisateur ${name} sur ce serveur.`,
    kind: 'Peut',
    kinds: {
      writer: 'écrire dans ce dépôt',
      reader: 'lire ce dépôt',
      role: 'écrire par le rôle tilecouch-writer, dans tous les dépôts de ce serveur sans rédacteurs propres'
    },
    password: {
      action: 'Changer le mot de passe',
      of: name => `Changer le mot de passe de ${name}`,
      name: 'Mot de passe',
      twice: 'Mot de passe encore une fois',
      differ: 'Les deux mots de passe diffèrent.',
      changed: name => `${name} a un nouveau mot de passe. Les sessions ouvertes durent jusqu’à leur fin.`
    },
    take: {
      action: 'Retirer les droits',
      of: name => `Retirer les droits de ${name}`,
      head: name => `Retirer les droits de ${name} ?`,
      lead: 'Le nom quitte les listes de ce dépôt, et l’utilisateur perd les rôles qui comptent ici, aussi pour d’autres dépôts. L’utilisateur et son mot de passe restent.',
      done: name => `${name} n’a plus de droits ici.`
    }
  }
}

import { counted } from '../../counted.js'

const number = counted('fr')

export const overview = {
  reading: 'Lecture de l’entrepôt …',
  notRead: why => `Les chiffres de l’entrepôt ne peuvent pas être lus : ${why}`,
  noIndex: 'L’index de l’entrepôt manque : ses tuiles ne peuvent pas être comptées.',
  building: number({ one: 'L’index est en construction : # modification n’est pas encore comptée.', other: 'L’index est en construction : # modifications ne sont pas encore comptées.' }),
  notBuilt: number({ one: 'L’index est en retard : # modification n’est pas encore comptée.', other: 'L’index est en retard : # modifications ne sont pas encore comptées.' }),
  figures: {
    head: 'Chiffres de l’entrepôt',
    layers: 'Couches',
    tiles: 'Tuiles',
    versions: 'Versions',
    images: 'Images',
    disk: 'Sur le disque',
    editions: 'Éditions',
    expired: 'Tuiles expirées',
    failed: 'Tuiles en échec',
    ofNow: 'visibles maintenant',
    ofAll: 'de tous les temps',
    imagesNow: size => `dont ${size} visibles maintenant`,
    inUse: size => `dont ${size} utilisés`,
    withIndex: size => `et ${size} pour l’index`,
    newest: date => `la dernière chargée le ${date}`,
    none: 'aucune',
    atLeast: tiles => `plus de ${tiles}`
  },
  needs: {
    head: 'À surveiller',
    nothing: 'Rien. Toutes les vérifications faites sont bonnes.',
    states: { bad: 'Grave', warning: 'Attention', unknown: 'Inconnu', ok: 'Bon' },
    fine: number({ one: '# vérification est bonne', other: '# vérifications sont bonnes' }),
    unknown: number({ one: '# vérification n’a pas pu être faite', other: '# vérifications n’ont pas pu être faites' }),
    checked: (when, who) => `\`tilecouch doctor\` a vérifié ${when} pour la dernière fois${who ? ` (${who})` : ''}. Ce que cette page voit elle-même date de maintenant.`,
    never: 'Cette page ne voit qu’une partie. `tilecouch doctor` vérifie aussi le serveur, ses réglages, le disque et les miroirs, et écrit ici ce qu’il trouve.',
    again: 'Pour vérifier à nouveau :',
    copy: line => `Copier : ${line}`,
    asked: 'CouchDB a commencé. Tant que cela dure, cela figure sous « Index et compactage ».',
    see: { work: 'Voir les travaux' },
    actions: {
      compact: { name: 'Compacter la base', ask: 'Compacter la base ?', text: 'CouchDB réécrit ses fichiers sans les anciennes révisions. Il lui faut autant d’espace libre que les données d’un fragment, et l’entrepôt est plus lent pendant ce temps.' },
      compactIndex: { name: 'Compacter l’index', ask: 'Compacter l’index ?', text: 'CouchDB réécrit les fichiers de l’index. Pendant ce temps, il lui faut autant d’espace libre que l’index.' },
      cleanUp: { name: 'Supprimer les vieux fichiers d’index', ask: 'Supprimer les vieux fichiers d’index ?', text: 'CouchDB supprime les fichiers des index qu’aucun document de conception n’utilise plus.' },
      build: { name: 'Construire l’index', ask: 'Construire l’index maintenant ?', text: 'L’entrepôt lit toutes les modifications que l’index n’a pas encore, quelques milliers par seconde ; la carte reste comme elle est pendant ce temps.' }
    }
  },
  own: {
    noAdmins: { found: 'le serveur n’a pas d’administrateur', why: 'Tout le monde peut tout faire ici.', advice: 'Donnez un administrateur au serveur : [admins] dans son fichier ini.' },
    admins: { found: 'le serveur a un administrateur' },
    noValidation: { found: 'rien ne vérifie ce qui est écrit dans l’entrepôt', why: 'Tout le monde peut remplacer ou supprimer chaque tuile.', advice: 'Déployez les documents de conception.' },
    validation: { found: 'l’entrepôt vérifie ce qui est écrit' },
    publicRead: { found: 'tout le monde peut lire' },
    closedRead: { found: 'seuls les membres peuvent lire' },
    notDeployed: names => ({ found: `des vues manquent : ${names}`, why: 'La frise, les tailles et les listes ont besoin des documents de conception de ce tilecouch.', advice: 'Déployez les documents de conception.' }),
    upToDate: { found: 'l’index est à jour' },
    behind: (changes, isRunning) => ({ found: number({ one: 'il manque # modification à l’index', other: 'il manque # modifications à l’index' })(changes), why: 'Le prochain lecteur attend qu’il soit à jour.', advice: isRunning ? 'Attendez : il est en construction.' : 'Construisez-le maintenant, pour que personne ne l’attende.' }),
    compact: { found: 'les fichiers contiennent peu de déchets' },
    waste: (file, slack) => ({ found: `${file} sur le disque, dont ${slack} de déchets`, why: 'CouchDB compactera de lui-même. D’ici là, cela prend de la place sur le disque.', advice: 'Compactez maintenant si l’espace est nécessaire.' }),
    conflicts: count => ({ found: number({ one: '# document a des conflits', other: '# documents ont des conflits' })(count), why: 'Des entrepôts chargés indépendamment se contredisent : la version que l’on voit est un hasard.', advice: 'Résolvez-les.' }),
    interrupted: count => ({ found: number({ one: '# commande a été interrompue la semaine dernière', other: '# commandes ont été interrompues la semaine dernière' })(count), why: 'Le travail n’est fait qu’en partie.', advice: 'Voyez sous Travaux comment continuer.' })
  },
  areas: { server: 'Serveur', settings: 'Réglages', database: 'Base de données', indexes: 'Index', access: 'Accès', disk: 'Disque', clocks: 'Horloges', mirrors: 'Miroirs', layers: 'Couches', gateway: 'Passerelle', work: 'Travaux' },
  disk: {
    head: 'Disque',
    free: (free, size) => `${free} libres sur ${size}`,
    meter: share => `${share} du disque est occupé`,
    seen: when => `comme \`tilecouch doctor\` l’a vu ${when}`,
    full: when => `Plein ${when}`,
    estimate: aMonth => `Une estimation : les chargements des six derniers mois demandent environ ${aMonth} par mois, index compris.`,
    never: 'Rien n’a été chargé ces six derniers mois : à ce rythme, il ne se remplit pas.',
    far: 'Il ne se remplit pas en 30 ans.',
    unknown: 'La place qui reste n’est pas connue : CouchDB ne la dit pas.',
    why: found => `Le dernier rapport dit : ${found}`,
    learn: 'À lancer sur la machine de l’entrepôt, par un utilisateur qui peut lire son dossier :',
    learnEmbedded: 'À lancer sur la machine de l’entrepôt, avec le dossier de l’entrepôt :'
  },
  running: {
    head: 'Index et compactage',
    upToDate: 'L’index est à jour.',
    pending: number({ one: 'Il manque # modification à l’index.', other: 'Il manque # modifications à l’index.' }),
    building: 'en construction',
    build: 'Construire',
    none: 'Rien d’autre n’est en cours.',
    onlyAdmins: 'Seul un administrateur du serveur voit où cela en est.',
    tasks: {
      indexer: 'Construction de l’index',
      database_compaction: 'Compactage de la base',
      view_compaction: 'Compactage de l’index',
      replication: 'Réplication',
      others: 'Tâche'
    },
    progress: share => `${share} fait`
  },
  growth: {
    head: 'Croissance',
    lead: 'Selon le mois où un chargement s’est terminé, et non selon la date des tuiles. Les tuiles prises une à une d’un serveur amont n’appartiennent à aucune édition et n’y figurent pas.',
    none: 'Rien n’a encore été chargé.',
    bytes: 'Octets d’images ajoutés, par mois',
    versions: 'Versions ajoutées, par mois',
    summary: (what, first, last, most, when) => `${what}, de ${first} à ${last}. Le plus : ${most} en ${when}.`,
    table: 'La croissance en tableau',
    month: 'Mois',
    bytesColumn: 'Octets',
    versionsColumn: 'Versions',
    editionsColumn: 'Éditions'
  },
  tiles: {
    head: 'Tuiles qui expirent ou en échec',
    expired: 'Expirées',
    within: number({ one: 'Expirent d’ici un jour', other: 'Expirent d’ici # jours' }),
    refresh: 'Reprendre les tuiles expirées :',
    remove: 'Supprimer les tuiles expirées :',
    noneExpired: 'Aucune tuile n’expire ces prochains jours.',
    failed: 'En échec',
    noneFailed: 'Aucune tuile n’a échoué.',
    failedIn: 'Commandes avec des tuiles en échec',
    what: 'Commande',
    layer: 'Couche',
    when: 'Quand',
    count: 'Tuiles en échec',
    load: 'load'
  },
  layers: {
    head: 'Couches',
    none: 'Pas encore de couche. Pour en charger une :',
    picture: 'Image',
    layer: 'Couche',
    tiles: 'Tuiles',
    versions: 'Versions',
    bytes: 'Images',
    last: 'Dernière édition',
    all: number({ one: 'Afficher # couche', other: 'Afficher les # couches' })
  }
}

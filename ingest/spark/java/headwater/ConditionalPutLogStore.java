package headwater;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.Invoker;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Delta's log on S3 for many drivers: a commit is put with <code>If-None-Match: *</code>, so that
 * one writer of each version succeeds.
 *
 * <p>A put may be done and its answer lost; the AWS SDK and S3A send it again then. So whatever
 * stands in the way of a put is read: this writer's own text is its own put. Texts of two commits
 * differ, because Delta gives each a random id, and an object of the log never changes.
 *
 * <p>Remove this class when Delta has released a store for S3 that puts conditionally;
 * docs/decisions/s3-log-store.md says how.
 */
public final class ConditionalPutLogStore extends HadoopFileSystemLogStore {
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int NOT_IMPLEMENTED = 501;

    /** In one answer; S3 gives no more. */
    private static final int MOST_KEYS = 1000;

    /** With the pauses between them some seconds. */
    private static final int MOST_CONFLICTS = 9;
    private static final long FIRST_PAUSE_MILLIS = 10;

    public ConditionalPutLogStore(Configuration configuration) {
        super(configuration);
    }

    @Override
    public void write(
            Path path, Iterator<String> actions, Boolean overwrite, Configuration configuration)
            throws IOException {
        S3AFileSystem files = s3a(path.getFileSystem(configuration), path);
        byte[] text = textOf(actions);
        // Tries again what S3A tries again, by the settings fs.s3a.retry.*.
        Invoker invoker = files.createStoreContext().getInvoker();
        if (overwrite) {
            invoker.retry("put", path.toString(), true, () -> put(files, path, text, false));
            return;
        }
        boolean isOwn;
        try {
            isOwn = invoker.retry(
                    "put if absent", path.toString(), true, () -> putIfAbsent(files, path, text));
        } catch (IOException failure) {
            isOwn = isOwnAfter(failure, files, path, text);
        }
        if (!isOwn) {
            throw new FileAlreadyExistsException(path.toString());
        }
    }

    /**
     * Asks S3 for the names from this one on only, because the log of a stream grows for weeks.
     * Delta's store can, too, but not with Hadoop 3.5.
     */
    @Override
    public Iterator<FileStatus> listFrom(Path path, Configuration configuration)
            throws IOException {
        S3AFileSystem files = s3a(path.getFileSystem(configuration), path);
        Path folder = path.getParent();
        String prefix = files.pathToKey(folder) + "/";
        Invoker invoker = files.createStoreContext().getInvoker();
        ListObjectsV2Request.Builder request = files.getRequestFactory()
                .newListObjectsV2RequestBuilder(prefix, "/", MOST_KEYS)
                .startAfter(prefix + before(path.getName()));
        List<FileStatus> found = new ArrayList<>();
        ListObjectsV2Response page;
        do {
            page = invoker.retry(
                    "list", path.toString(), true, () -> client(files).listObjectsV2(request.build()));
            for (S3Object one : page.contents()) {
                String name = one.key().substring(prefix.length());
                if (name.compareTo(path.getName()) >= 0) {
                    found.add(status(one, new Path(folder, name), files));
                }
            }
            request.continuationToken(page.nextContinuationToken());
        } while (page.isTruncated());
        if (found.isEmpty() && !files.exists(folder)) {
            throw new FileNotFoundException("No such file or directory: " + folder);
        }
        found.sort(Comparator.comparing(one -> one.getPath().getName()));
        return found.iterator();
    }

    /** A put shows all of an object at once. */
    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration configuration) {
        return false;
    }

    private static FileStatus status(S3Object object, Path path, S3AFileSystem files) {
        long time = object.lastModified().toEpochMilli();
        return new FileStatus(object.size(), false, 1, files.getDefaultBlockSize(path), time, path);
    }

    /** A name that comes shortly before this one. */
    private static String before(String name) {
        int last = name.length() - 1;
        return name.substring(0, last) + (char) (name.charAt(last) - 1);
    }

    /** Returns whether this text is the object now; false where another is. */
    private static boolean putIfAbsent(S3AFileSystem files, Path path, byte[] text)
            throws IOException {
        for (int conflicts = 1; ; conflicts++) {
            try {
                return put(files, path, text, true);
            } catch (SdkServiceException failure) {
                if (failure.statusCode() == PRECONDITION_FAILED) {
                    return isStored(files, path, text);
                }
                if (failure.statusCode() == NOT_IMPLEMENTED) {
                    throw new UnsupportedOperationException(
                            path + ": the server does not implement this put (501); where it has"
                                    + " no conditional put, HEADWATER_S3_CONDITIONAL_PUT=off lets"
                                    + " one driver write a table",
                            failure);
                }
                // S3 asks to send the put again; S3A would not.
                if (failure.statusCode() != CONFLICT || conflicts == MOST_CONFLICTS) {
                    throw failure;
                }
                pause(conflicts);
            }
        }
    }

    private static void pause(int conflicts) throws InterruptedIOException {
        long longest = FIRST_PAUSE_MILLIS << conflicts;
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(longest / 2, longest));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted between two puts");
        }
    }

    private static boolean isOwnAfter(
            IOException failure, S3AFileSystem files, Path path, byte[] text) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw failure;
        }
        try {
            return isStored(files, path, text);
        } catch (FileNotFoundException absent) {
            throw failure;
        } catch (IOException unreadable) {
            failure.addSuppressed(unreadable);
            throw failure;
        }
    }

    private static boolean isStored(S3AFileSystem files, Path path, byte[] text)
            throws IOException {
        try (FSDataInputStream stream = files.open(path)) {
            return Arrays.equals(stream.readNBytes(text.length + 1), text);
        }
    }

    /** Puts with the encryption, storage class and rights that S3A is configured with. */
    private static boolean put(S3AFileSystem files, Path path, byte[] text, boolean ifAbsent) {
        // Without PutObjectOptions, which differ between versions of Hadoop.
        PutObjectRequest.Builder request = files.getRequestFactory()
                .newPutObjectRequestBuilder(files.pathToKey(path), null, text.length, false);
        if (ifAbsent) {
            // The SDK of Hadoop 3.4.1 has no method for this header.
            AwsRequestOverrideConfiguration own = request.overrideConfiguration();
            request.overrideConfiguration(
                    (own == null ? AwsRequestOverrideConfiguration.builder() : own.toBuilder())
                            .putHeader("If-None-Match", "*")
                            .build());
        }
        client(files).putObject(request.build(), RequestBody.fromBytes(text));
        return true;
    }

    private static S3Client client(S3AFileSystem files) {
        return files.getS3AInternals().getAmazonS3Client("Delta's log");
    }

    /** All of the text, before any is sent: a part of a commit must not become an object. */
    private static byte[] textOf(Iterator<String> actions) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        while (actions.hasNext()) {
            text.writeBytes((actions.next() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return text.toByteArray();
    }

    private static S3AFileSystem s3a(FileSystem files, Path path) {
        if (files instanceof S3AFileSystem) {
            return (S3AFileSystem) files;
        }
        throw new UnsupportedOperationException(
                path + ": conditional puts need Hadoop's S3AFileSystem, not " + files.getClass());
    }
}
